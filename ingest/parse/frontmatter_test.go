package parse

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
)

// TestFrontMatterWithoutNumbersOfJSON holds numbers that YAML can write and
// JSON cannot: they are no reason to refuse the text.
func TestFrontMatterWithoutNumbersOfJSON(t *testing.T) {
	source := "---\na: .nan\nb: .inf\nc: -.inf\nd: [.nan, 1.5, x]\ne: 1e3\n---\nText.\n"
	text, err := parseBytes(t, "x.md", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	want := store.Metadata{"d": []string{"1.5", "x"}, "e": 1000.0}
	if diff := cmp.Diff(want, text.Properties); diff != "" {
		t.Error(diff)
	}
	if _, err := json.Marshal(text.Properties); err != nil {
		t.Error(err)
	}
	if text.Body != "Text." {
		t.Errorf("got %q", text.Body)
	}
}
