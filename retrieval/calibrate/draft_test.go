package calibrate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDrafts(t *testing.T) {
	text := "one two three four five six seven eight nine ten eleven twelve thirteen"
	got := drafts("chk_1", text, 3)
	if diff := cmp.Diff(got, drafts("chk_1", text, 3)); diff != "" {
		t.Error(diff)
	}
	for _, q := range got {
		if len(strings.Fields(q)) != draftWords || !strings.Contains(text, q) {
			t.Errorf("%q is not of the text", q)
		}
	}
	if diff := cmp.Diff([]string{"three short words"}, drafts("chk_2", " three\n short words ", 1)); diff != "" {
		t.Error(diff)
	}
	if got := drafts("chk_3", "too short", 2); got != nil {
		t.Errorf("%q", got)
	}
	chinese := "《战国无双》是由光荣和本作的战国史模式中主打两个方面所组成的作品"
	for _, q := range drafts("chk_4", chinese, 4) {
		if n := len([]rune(q)); n < 2*draftWords-1 || !strings.Contains(chinese, q) {
			t.Errorf("%q has %d characters, or is not of the text", q, n)
		}
	}
}
