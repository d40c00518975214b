package doc_test

import (
	"testing"

	"ragagent/ingest/parse/doc"
)

func TestRow(t *testing.T) {
	for _, c := range []struct {
		cells []string
		want  string
	}{
		{[]string{"a", "b"}, "a | b"},
		{[]string{"a", "", "b", " ", ""}, "a |  | b"},
		{[]string{" two\nlines ", "x|y"}, "two lines | x/y"},
		{[]string{"", " \t"}, ""},
		{nil, ""},
	} {
		if got := doc.Row(c.cells); got != c.want {
			t.Errorf("Row(%q) = %q, want %q", c.cells, got, c.want)
		}
	}
}

func TestRecordRow(t *testing.T) {
	got := doc.RecordRow([]string{"Name", "Born ", ""}, []string{"Ada|L", "1815", "", "x\ny"})
	if want := "Name: Ada/L | Born: 1815 | x y"; got != want {
		t.Errorf("RecordRow = %q, want %q", got, want)
	}
}
