package parse

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestDamagedFiles changes files at random and asks that each ends with text
// or with an error that blames the file. RAGAGENT_DAMAGED sets how many.
func TestDamagedFiles(t *testing.T) {
	n := 100
	if raced {
		n = 20
	}
	if s := os.Getenv("RAGAGENT_DAMAGED"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	p := newParser(t, Config{Stall: 2 * time.Second})
	originals := []string{
		string(newPDF().pages(show("Read me."), show("Me too."), show("And me, (12) %")).object(4, "<</Title (T)>>").bytes("/Info 4 0 R")),
		inObjectStream(t).out.String(),
		string(newPDF().pages("x").stream(11, "/Filter /FlateDecode", deflate(t, []byte(show("Read me.", "A line.")))).bytes("")),
		"<html><body><h1>T</h1><p>x</p><table><tr><td>1</td></tr></table></body></html>",
		"---\ntitle: x\n---\n# T\n\n- a\n- b\n\n|a|b|\n|-|-|\n|1|2|\n",
	}
	for i := range n {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		original := originals[random.IntN(len(originals))]
		data := damaged(random, original)
		text, err := p.Parse(t.Context(), "x.md", inMemory(data))
		switch {
		case err == nil:
			if why := brokenText(text); why != "" {
				t.Errorf("file %d: %s", i, why)
			}
		case !blamesFile(err):
			t.Errorf("file %d: %v", i, err)
		case errors.Is(err, ErrLimit):
			t.Logf("file %d: %v", i, err)
		}
	}
}

// damaged returns data with a few random changes.
func damaged(random *rand.Rand, data string) []byte {
	out := []byte(data)
	for range 1 + random.IntN(4) {
		at := random.IntN(len(out))
		switch random.IntN(6) {
		case 0:
			out[at] ^= 1 << random.IntN(8)
		case 1:
			out = out[:at+1]
		case 2:
			out = append(out[:at:at], out[min(len(out), at+random.IntN(40)):]...)
		case 3:
			end := min(len(out), at+random.IntN(200))
			out = append(out[:end:end], out[at:]...)
		case 4:
			out = []byte(strings.Replace(string(out), fmt.Sprint(random.IntN(30)), fmt.Sprint(random.Uint64()>>random.IntN(64)), 3))
		case 5:
			out = append(out[:at:at], append([]byte(strings.Repeat("<<[(", random.IntN(1000))), out[at:]...)...)
		}
		if len(out) == 0 {
			return []byte(" ")
		}
	}
	return out
}
