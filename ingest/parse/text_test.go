package parse

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"ragagent/store"
)

// shown writes the blocks of a text as "kind[level] text".
func shown(text Text) []string {
	var out []string
	for _, b := range text.Blocks {
		line := string(b.Kind)
		if b.Level > 0 {
			line += string(rune('0' + b.Level))
		}
		out = append(out, line+" "+text.Body[b.Span.Start:b.Span.End])
	}
	return out
}

func TestMarkdown(t *testing.T) {
	source := "---\ntitle: The Guide\ntags: [a, b]\nweight: 3\ndraft: true\ndate: 2024-05-06\n---\n" +
		"# Start *here*\n\nFirst `code` and [a link](http://x.example \"t\")\nwrapped &amp; \\*plain\\*.\n\n" +
		"- one\n- two\n  1. deep\n  2. deeper\n\n> quoted **text**\n\n```go\nfunc f() {\n\n\n\treturn\n}\n```\n\n" +
		"| a | b |\n|---|:-:|\n| 1 | x \\| y |\n| 2 |   |\n\n<div><p>Raw <b>HTML</b></p></div>\n\nSetext\n------\n\n中文一行\n接着一行。\n\n![alt text](p.png) end[^1]\n\n[^1]: A note.\n"
	text, err := parseBytes(t, "guide.md", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"heading1 Start here",
		"paragraph First code and a link wrapped & *plain*.",
		"list - one\n- two\n  1. deep\n  2. deeper",
		"quote quoted text",
		"code func f() {\n\n\treturn\n}",
		"table a | b\n1 | x | y\n2",
		"paragraph Raw HTML",
		"heading2 Setext",
		"paragraph 中文一行接着一行。",
		"paragraph alt text end[^1]",
		"paragraph [^1] A note.",
	}
	if diff := cmp.Diff(want, shown(text)); diff != "" {
		t.Error(diff)
	}
	if text.Title != "The Guide" || text.MIME != "text/markdown" {
		t.Errorf("title %q, MIME %q", text.Title, text.MIME)
	}
	properties := store.Metadata{"tags": []string{"a", "b"}, "weight": 3.0, "draft": true, "date": "2024-05-06"}
	if diff := cmp.Diff(properties, text.Properties); diff != "" {
		t.Error(diff)
	}
}

func TestHTML(t *testing.T) {
	source := `<!DOCTYPE html><html lang="en"><head><title> A  page </title><meta name="author" content="Ann">
<style>p{}</style><script>var x = "<p>no</p>";</script></head>
<body><nav><a href=/>Home</a></nav><h1>Main <em>title</em></h1>
<p>One&nbsp;two
three<br>four &lt;five&gt;</p><div hidden>secret</div>
<ul><li>a<li><p>b</p><ol><li>c</li></ol></ul>
<table><caption>Figures</caption><tr><th>Name<th>Sum</tr><tr><td>x</td><td><p>1</p></td></tr><tr><td></td><td></td></tr></table>
<pre>  keep
    this</pre><blockquote>said</blockquote>
<table><tr><td><h2>Layout</h2><p>cell one</p></td><td>cell two</td></tr></table>
<footer>imprint</footer></body></html>`
	text, err := parseBytes(t, "whatever.bin", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"heading1 Main title",
		"paragraph One two three\nfour <five>",
		"list - a\n- b\n  1. c",
		"paragraph Figures",
		"table Name | Sum\nx | 1",
		"code keep\n    this",
		"quote said",
		"heading2 Layout",
		"paragraph cell one",
		"paragraph cell two",
	}
	if diff := cmp.Diff(want, shown(text)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(store.Metadata{"author": "Ann", "language": "en"}, text.Properties); diff != "" {
		t.Error(diff)
	}
	if text.Title != "A page" {
		t.Errorf("title %q", text.Title)
	}
}

func TestHTMLOfNavigationOnlyIsKept(t *testing.T) {
	for _, source := range []string{
		"<html><body><nav>Only this</nav></body></html>",
		"<html><body><p>Before</p><nav>never closed <p>Only this</body></html>",
	} {
		text, err := parseBytes(t, "", []byte(source))
		if err != nil || !strings.Contains(text.Body, "Only this") {
			t.Errorf("%s: %q, %v", source, text.Body, err)
		}
	}
}

func TestPlainText(t *testing.T) {
	text, err := parseBytes(t, "notes.txt", []byte("Title\r\n=====\r\nfirst   \r\nsecond\r\n\r\n\r\n\r\n* a\r\n* b\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"heading1 Title", "paragraph first\nsecond", "list * a\n* b"}
	if diff := cmp.Diff(want, shown(text)); diff != "" {
		t.Error(diff)
	}
}

func TestCharsets(t *testing.T) {
	const german = "Die Straße über den Fluß ist für größere Fahrzeuge geöffnet. Ärgerlich!"
	const chinese = "人工智能是计算机科学的一个分支，它企图了解智能的实质。"
	const russian = "Съешь же ещё этих мягких французских булок, да выпей чаю."
	encode := func(enc interface{ String(string) (string, error) }, s string) string {
		out, err := enc.String(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	utf16 := func(order unicode.Endianness, bom unicode.BOMPolicy, s string) string {
		return encode(unicode.UTF16(order, bom).NewEncoder(), s)
	}
	tests := []struct{ name, data, want string }{
		{"UTF-8", german, german},
		{"UTF-8 with a mark", "\ufeff" + german, german},
		{"UTF-16LE with a mark", utf16(unicode.LittleEndian, unicode.UseBOM, german), german},
		{"UTF-16BE with a mark", utf16(unicode.BigEndian, unicode.UseBOM, chinese), chinese},
		{"UTF-16LE", utf16(unicode.LittleEndian, unicode.IgnoreBOM, german), german},
		{"UTF-16BE", utf16(unicode.BigEndian, unicode.IgnoreBOM, german), german},
		{"Latin-1", encode(charmap.ISO8859_1.NewEncoder(), german), german},
		{"Windows-1252", encode(charmap.Windows1252.NewEncoder(), "“Quoted” – café déjà vu, naïve façade"), "“Quoted” – café déjà vu, naïve façade"},
		{"Windows-1251", encode(charmap.Windows1251.NewEncoder(), russian), russian},
		{"GB18030", encode(simplifiedchinese.GB18030.NewEncoder(), strings.Repeat(chinese, 3)), strings.Repeat(chinese, 3)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := parseBytes(t, "x.txt", []byte(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			if text.Body != tt.want {
				t.Errorf("got %q\nwarnings %q", text.Body, text.Warnings)
			}
		})
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"
	tests := []struct {
		name, file, data string
		want             error
		says             string
	}{
		{"empty", "a.txt", "", ErrNoText, "empty"},
		{"blank", "a.md", " \n\t\n\ufeff\n", ErrNoText, "blank"},
		{"blank HTML", "a.html", "<html><body><script>x</script></body></html>", ErrNoText, "blank"},
		{"an image named as Markdown", "a.md", png, ErrUnsupported, "PNG"},
		{"a program", "a.txt", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00", ErrUnsupported, "program"},
		{"noise", "a.txt", strings.Repeat("\x00\x01\x02\x93\xff", 200), ErrUnsupported, "unknown kind"},
		{"a zip file cut off", "a.md", "PK\x03\x04\x14\x00\x00\x00\x08\x00", ErrDamaged, "cut off"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseBytes(t, tt.file, []byte(tt.data))
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %v that says %q", err, tt.want, tt.says)
			}
		})
	}
}

func TestFormatsByContentAndName(t *testing.T) {
	tests := []struct {
		name, text string
		want       format
	}{
		{"readme.md", "<p align=center>Logo</p>\n\n# Title\n", formatMarkdown},
		{"readme.md", "<!doctype html><p>x", formatHTML},
		{"page.html", "<p>x</p>", formatHTML},
		{"page.html", "no tags", formatPlain},
		{"main.go", "package main\n", formatCode},
		{"Makefile", "all:\n\techo\n", formatCode},
		{"notes.txt", "# not\n\n- a heading\n", formatPlain},
		{"upload", "# Title\n\n- item\n", formatMarkdown},
		{"upload", "just words", formatPlain},
		{"run", "#!/bin/sh\nls\n", formatCode},
	}
	for _, tt := range tests {
		if got := textFormat(tt.name, tt.text); got != tt.want {
			t.Errorf("%s %q: got %s, want %s", tt.name, tt.text, got, tt.want)
		}
	}
}
