package parse

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// TestFilingsAgreeWithPdftotext compares the words of real annual reports with
// what poppler's pdftotext finds, as bags of words.
func TestFilingsAgreeWithPdftotext(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t), "data/filings/pdfs/*.pdf"))
	if err != nil || len(files) == 0 {
		t.Skipf("no filings here: %v", err)
	}
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("pdftotext is not installed")
	}
	if raced {
		files = files[:2]
	}
	p := newParser(t, Config{})
	sum := 0.0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.Parse(t.Context(), filepath.Base(name), inMemory(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		theirs, err := exec.CommandContext(t.Context(), "pdftotext", "-enc", "UTF-8", name, "-").Output()
		if err != nil {
			t.Fatal(err)
		}
		precision, recall, f1 := overlap(wordCounts(text.Body), wordCounts(string(theirs)))
		t.Logf("%-36s pages %3d  P %.4f  R %.4f  F1 %.4f", filepath.Base(name), text.Pages, precision, recall, f1)
		sum += f1
	}
	mean := sum / float64(len(files))
	t.Logf("mean F1 %.4f over %d files", mean, len(files))
	if mean < .98 {
		t.Errorf("mean F1 %.4f, want at least .98", mean)
	}
}

// wordCounts counts the runs of letters and digits.
func wordCounts(text string) map[string]int {
	counts := map[string]int{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		counts[w]++
	}
	return counts
}

// overlap compares two bags of words.
func overlap(got, want map[string]int) (precision, recall, f1 float64) {
	common, ours, theirs := 0, 0, 0
	for w, n := range got {
		ours += n
		common += min(n, want[w])
	}
	for _, n := range want {
		theirs += n
	}
	precision, recall = float64(common)/float64(ours), float64(common)/float64(theirs)
	return precision, recall, 2 * precision * recall / (precision + recall)
}
