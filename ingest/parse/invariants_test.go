package parse

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// brokenText reports the first promise of Text that text breaks; "" for none.
func brokenText(text Text) string {
	switch body := text.Body; {
	case !utf8.ValidString(body):
		return "the body is not UTF-8"
	case !norm.NFC.IsNormalString(body):
		return "the body is not NFC"
	case body != normalise(body):
		return fmt.Sprintf("the body is not normalised: %q, not %q", body, normalise(body))
	case strings.ContainsFunc(body, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }):
		return "the body has control characters"
	}
	end := 0
	for i, b := range text.Blocks {
		s := b.Span
		switch {
		case s.Start < end || s.End <= s.Start || s.End > len(text.Body):
			return fmt.Sprintf("block %d has span %v after %d of %d", i, s, end, len(text.Body))
		case strings.TrimSpace(text.Body[end:s.Start]) != "":
			return fmt.Sprintf("%q stands before block %d", text.Body[end:s.Start], i)
		case !utf8.ValidString(text.Body[s.Start:s.End]) || !utf8.ValidString(text.Body[end:s.Start]):
			return fmt.Sprintf("block %d cuts a character", i)
		case strings.TrimSpace(text.Body[s.Start:s.End]) == "":
			return fmt.Sprintf("block %d is blank", i)
		case (b.Kind == Heading) != (b.Level >= 1 && b.Level <= 6):
			return fmt.Sprintf("block %d is a %s of level %d", i, b.Kind, b.Level)
		case b.Page < 0 || b.Page > text.Pages:
			return fmt.Sprintf("block %d is on page %d of %d", i, b.Page, text.Pages)
		}
		end = s.End
	}
	if rest := strings.TrimSpace(text.Body[end:]); rest != "" {
		return fmt.Sprintf("%q stands after the last block", rest)
	}
	return ""
}

// blamesFile says that err is one of those a file can end with.
func blamesFile(err error) bool {
	for _, sentinel := range failureCodes {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return false
}

// mixtures of what the text formats are made of.
var (
	markdownParts = []string{"# ", "## ", "\n", "\n\n", "- ", "1. ", "> ", "  ", "`", "```\n", "**", "_", "[a](b)", "![x](y)", "[^1]", "[^1]: n\n", "|a|b|\n|-|-|\n", "| x ", "|", "<b>", "<div>", "</div>", "<br>",
		"&amp;", "\\*", "---\n", "===\n", "word", "Ünïcode", "e\u0301", "中文", "\u00ad", "\ufeff", "\x00", "\xff", "\r\n", "\t", "🙂", "\u200b", "http://x.y "}
	htmlParts = []string{"<p>", "</p>", "<div>", "</div>", "<h1>", "</h1>", "<h3>", "<ul>", "</ul>", "<ol>", "<li>", "</li>", "<table>", "</table>", "<tr>", "<td>", "</td>", "<th>", "<pre>", "</pre>", "<blockquote>", "</blockquote>",
		"<nav>", "</nav>", "<script>", "</script>", "<br>", "<hr>", "<title>", "</title>", "<!--", "-->", "<svg/>", "word", " ", "\n", "&lt;", "&nbsp;", "&#x0;", "中文", "\x00", "\xff", "<", "|", "e\u0301", "<a href='x'>", "<div hidden>", "<plaintext>"}
)

func TestBlocksAreExact(t *testing.T) {
	p := newParser(t, Config{})
	formats := []struct {
		name  string
		parts []string
	}{{"x.md", markdownParts}, {"x.html", htmlParts}, {"x.txt", markdownParts}, {"x.go", markdownParts}, {"x", htmlParts}}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(formats).Draw(t, "format")
		data := strings.Join(rapid.SliceOfN(rapid.SampledFrom(f.parts), 0, 60).Draw(t, "parts"), "")
		text, err := p.Parse(t.Context(), f.name, inMemory([]byte(data)))
		switch {
		case err == nil:
			if why := brokenText(text); why != "" {
				t.Fatalf("%s of %q: %s", f.name, data, why)
			}
		case !blamesFile(err):
			t.Fatal(err)
		}
	})
}

// TestHostileText holds what makes parsers of text formats recurse or loop: a
// megabyte of it. The text must come out whatever the child that reads it does.
func TestHostileText(t *testing.T) {
	patient := newParser(t, Config{})
	hasty := newParser(t, Config{Timeout: time.Minute, Stall: 2 * time.Second}) // with Markdown, which can be read in another way
	size := 1 << 20
	if raced {
		size = 1 << 15
	}
	for _, unit := range []string{">", "> ", "[", "![", "*", "**a ", "*a_ ", "_", "`", "``a` ", "- ", "1. ", "<div>", "<div><p>", "<table><tr><td>", "<ul><li>", "<b>", "<", "](", "[a](", "[a][", "&", "|a", "|\n", "\\", "#", "~~a ", "<!--", "<a href=", "\n- ", "\n> ", "[^1]", "\n  "} {
		for _, name := range []string{"x.md", "x.html", "x.txt"} {
			t.Run(fmt.Sprintf("%s of %q", name, unit), func(t *testing.T) {
				data := "needle\n\n" + strings.Repeat(unit, size/len(unit)) + "\n"
				if name == "x.html" {
					data = "<!doctype html>" + data
				}
				p := patient
				if name == "x.md" {
					p = hasty
				}
				text, err := p.Parse(t.Context(), name, inMemory([]byte(data)))
				if err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(text.Body, "needle") {
					t.Errorf("got %.80q", text.Body)
				}
				if why := brokenText(text); why != "" {
					t.Error(why)
				}
			})
		}
	}
}

func FuzzParseText(f *testing.F) {
	f.Add("x.md", "# a\n\n- b\n")
	f.Add("x.html", "<h1>a</h1><table><tr><td>b")
	f.Add("x.txt", "a\n=\n\xff\xfe")
	f.Add("", "\xff\xfea\x00")
	f.Fuzz(func(t *testing.T, name, data string) {
		if isPDF([]byte(data)) {
			return
		}
		p := newParser(t, Config{})
		text, err := p.Parse(t.Context(), name, inMemory([]byte(data)))
		switch {
		case err == nil:
			if why := brokenText(text); why != "" {
				t.Fatal(why)
			}
		case !blamesFile(err):
			t.Fatal(err)
		}
	})
}
