package parse

import (
	"strings"
	"testing"
)

func TestFormatsByContent(t *testing.T) {
	mail := "Received: from a\r\n by b; today\r\nFrom: ann@example.com\r\nSubject: x\r\n\r\nbody"
	tests := []struct {
		name, text string
		want       format
	}{
		{"upload", mail, formatMail},
		{"upload", "From: Ann\nTo: Bob\nDate: today\n\nx", formatMail},
		{"upload", "From: here to there\nIt is far.\n", ""},
		{"upload", "Note: x\nSubject: y\n\nz", ""},
		{"a.docx", `{\rtf1\ansi x}`, formatRTF},
		{"a.txt", "\xef\xbb\xbf{\\rtf1 x}", formatRTF},
		{"a.txt", "PK\x03\x04....", formatZip},
		{"a.docx", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", formatOLE},
	}
	for _, tt := range tests {
		if got := sniff([]byte(tt.text)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestTextFormatsByContent(t *testing.T) {
	rows := func(row string) string { return strings.Repeat(row+"\n", 6) }
	tests := []struct {
		name, text string
		want       format
	}{
		{"upload", rows("a\tb"), formatCSV},
		{"upload", rows("a;b;c"), formatCSV},
		{"upload", rows(`1,"x, y",3`), formatCSV},
		{"upload", rows("He came, saw, and won"), formatPlain},
		{"upload", rows("a,b"), formatPlain},
		{"upload", "a,b,c\n1,2,3\n", formatPlain}, // too little to tell
		{"notes.csv", "a,b\n", formatCSV},
		{"notes.tsv", "a\tb\n", formatTSV},
		{"main.go", rows("a,b,c"), formatCode},
		{"upload", `{"a": 1, "b": [2]}`, formatJSON},
		{"upload", `[{"a": 1}, {"a": 2}`, formatJSON},
		{"upload", "{\"a\": 1}\n{\"a\": 2}\n", formatJSON},
		{"log.jsonl", "{\"a\": 1}\n", formatJSONL},
		{"upload", "[1] Smith, A history", formatPlain},
		{"upload", "[link](x) and text", formatPlain},
		{"upload", "{braces}", formatPlain},
		{"x.json", `{"a": 1}`, formatJSON},
		{"x.json", "// a comment first\n{}", formatCode},
		{"x.js", `{"a": 1, "b": 2}`, formatCode},
	}
	for _, tt := range tests {
		if got := textFormat(tt.name, tt.text); got != tt.want {
			t.Errorf("%s %.40q: got %s, want %s", tt.name, tt.text, got, tt.want)
		}
	}
}
