package codeact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var replies = map[string]struct {
	text string
	want Reply
}{
	"answer":          {"It is 42 [1].", Reply{Text: "It is 42 [1].", Said: "It is 42 [1]."}},
	"tags":            {"I add.\n<execute>\nprint(1)\n</execute>\nIt is 7.", Reply{Text: "I add.", Code: "print(1)", Said: "I add.\n<execute>\nprint(1)\n</execute>"}},
	"tags in a line":  {"a <execute>1 < 2</execute>", Reply{Text: "a", Code: "1 < 2", Said: "a <execute>1 < 2</execute>"}},
	"fence":           {"I add.\n```js\nprint(1)\n```\nIt is 7.", Reply{Text: "I add.", Code: "print(1)", Said: "I add.\n```js\nprint(1)\n```"}},
	"fence in tags":   {"<execute>\n```js\n1\n```\n</execute>", Reply{Code: "1", Said: "<execute>\n```js\n1\n```\n</execute>"}},
	"fence of code":   {"```\nprint(1)\n```", Reply{Code: "print(1)", Said: "```\nprint(1)\n```"}},
	"fence of text":   {"So:\n```\na table\n```\nthat is.", Reply{Text: "So:\n```\na table\n```\nthat is.", Said: "So:\n```\na table\n```\nthat is."}},
	"fence of JSON":   {"```json\n{\"a\": 1}\n```\nthen <execute>1</execute>", Reply{Text: "```json\n{\"a\": 1}\n```\nthen", Code: "1", Said: "```json\n{\"a\": 1}\n```\nthen <execute>1</execute>"}},
	"several":         {"<execute>1</execute><execute>2</execute>", Reply{Code: "1", Said: "<execute>1</execute>"}},
	"stopped":         {"<execute>\nprint(1)\n", Reply{Code: "print(1)", Said: "<execute>\nprint(1)", Open: true}},
	"stopped fence":   {"```js\nprint(1)", Reply{Code: "print(1)", Said: "```js\nprint(1)", Open: true}},
	"template string": {"<execute>`a ${1} ``` b`</execute>", Reply{Code: "`a ${1} ``` b`", Said: "<execute>`a ${1} ``` b`</execute>"}},
	"less than":       {"a < b and <b> <exec> << <", Reply{Text: "a < b and <b> <exec> << <", Said: "a < b and <b> <exec> << <"}},
}

func parse(pieces ...string) (Reply, string) {
	var text strings.Builder
	p := Parser{OnText: func(s string) { text.WriteString(s) }}
	for _, s := range pieces {
		p.Write(s)
	}
	return p.Close(), text.String()
}

func TestReplies(t *testing.T) {
	for name, tt := range replies {
		t.Run(name, func(t *testing.T) {
			for i := range len(tt.text) {
				got, text := parse(tt.text[:i], tt.text[i:])
				if diff := cmp.Diff(tt.want, got); diff != "" || strings.TrimSpace(text) != got.Text {
					t.Fatalf("cut at %d, handed on %q (-want +got):\n%s", i, text, diff)
				}
			}
		})
	}
}

func TestAnyReply(t *testing.T) {
	words := []string{"<execute>", "</execute>", "```", "```js\n", "```json\n", "\n", "print(1)", "潮", "<", ">", "`", "a", " "}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 20).Draw(t, "words"), "")
		want, wantText := parse(text)
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		got, gotText := parse(pieces...)
		if diff := cmp.Diff(want, got); diff != "" || gotText != wantText || strings.TrimSpace(gotText) != got.Text {
			t.Fatalf("%q from %q: %s, handed on %q", text, pieces, diff, gotText)
		}
	})
}

// TestLongReplies of the kinds that cost most: quadratic time would be minutes.
func TestLongReplies(t *testing.T) {
	for _, begin := range []string{"", "<execute>", "```js\n"} {
		for _, s := range []string{"`", "<", "\n", " ", "```\n", "</execute", "<execute", "a(1)"} {
			parse(begin + strings.Repeat(s, (64<<10)/len(s)))
		}
	}
}
