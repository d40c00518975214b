package parse

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// TestNormaliseAgreesWithItsDefinition compares normalise, which looks for
// reasons to do nothing, with one that goes line by line.
func TestNormaliseAgreesWithItsDefinition(t *testing.T) {
	parts := []string{"a", "b c", " ", "\n", "\n\n", "\n\n\n", "\t", "\r", "\r\n", "\f", "\u0085", "\u2028", "\u00a0", "\u2003", "\u3000", "é", "e\u0301", "中", "\u00ad", "\ufeff", "\x00", "\x7f", "\xff", "\u202e", "🙂", "\U000e0041"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), "")
		got := normalise(text)
		if want := defined(text); got != want {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
		if again := normalise(got); again != got {
			t.Fatalf("%q: %q is not the form of %q", text, got, again)
		}
	})
}

// defined is what normalise is to return.
func defined(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n", "\v", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n",
		"\u00a0", " ", "\u2007", " ", "\u202f", " ").Replace(string([]rune(text)))
	text = norm.NFC.String(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || invisible(r) {
			return -1
		}
		return r
	}, text))
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if line != "" || len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// TestNormalTextIsNotCopied holds what texts of megabytes cost.
func TestNormalTextIsNotCopied(t *testing.T) {
	text := strings.Repeat("Äpfel und 中文.\n\n", 1000) + "End."
	if n := testing.AllocsPerRun(10, func() { normalise(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
