package parse

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// needLarge skips unless long tests are asked for.
func needLarge(t *testing.T) {
	t.Helper()
	if os.Getenv("RAGAGENT_LARGE") == "" {
		t.Skip("files of hundreds of megabytes are read if RAGAGENT_LARGE is set")
	}
}

// resident returns the resident bytes of this process and its children.
func resident() (total int64) {
	self := strconv.Itoa(os.Getpid())
	files, _ := filepath.Glob("/proc/[0-9]*/status") // none: the test below fails
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		fields := map[string]string{}
		for line := range strings.Lines(string(data)) {
			key, value, _ := strings.Cut(line, ":")
			fields[key] = strings.TrimSuffix(strings.TrimSpace(value), " kB")
		}
		if fields["Pid"] == self || fields["PPid"] == self {
			kb, _ := strconv.ParseInt(fields["VmRSS"], 10, 64)
			total += kb << 10
		}
	}
	return total
}

// peak returns the most memory that this process and its children had while do
// ran.
func peak(do func()) int64 {
	debug.FreeOSMemory()
	done, most := make(chan struct{}), make(chan int64)
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		highest := resident()
		for {
			select {
			case <-tick.C:
				highest = max(highest, resident())
			case <-done:
				most <- highest
				return
			}
		}
	}()
	do()
	close(done)
	return <-most
}

const oneGiB = 1 << 30

// written makes a file of size bytes by repeating what line gives.
func written(t *testing.T, size int, line func(i int) string) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "large"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	w := bufio.NewWriterSize(file, 1<<20)
	for i, n := 0, 0; n < size; i++ {
		m, err := w.WriteString(line(i))
		if err != nil {
			t.Fatal(err)
		}
		n += m
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return file
}

func readLarge(t *testing.T, name string, file *os.File) Text {
	t.Helper()
	p := newParser(t, Config{})
	var text Text
	var err error
	began := time.Now()
	most := peak(func() { text, err = p.Parse(t.Context(), name, onDisk{file}) })
	took := time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	size := onDisk{file}.Size()
	t.Logf("%d MB read in %s (%.0f MB/s), %d MB of text in %d blocks, %d pages, at most %d MB in all processes, warnings %q", size/1e6, took.Round(time.Millisecond),
		float64(size)/1e6/took.Seconds(), len(text.Body)/1e6, len(text.Blocks), text.Pages, most/1e6, text.Warnings)
	if most > oneGiB {
		t.Errorf("%d MB of memory", most/1e6)
	}
	return text
}

func TestLargeTexts(t *testing.T) {
	needLarge(t)
	prose := func(i int) string {
		end := " "
		if i%5 == 4 {
			end = "\n\n"
		}
		return fmt.Sprintf("Sentence number %d speaks of the weather in the mountains, and of the snow that fell there.%s", i, end)
	}
	for _, f := range []struct {
		name string
		size int
		line func(int) string
	}{
		{"prose.txt", 500_000_000, prose},
		{"lines.log", 500_000_000, func(i int) string {
			return fmt.Sprintf("2024-05-06T07:08:09 INFO request %d took %d ms\r\n", i, i%977)
		}},
		{"short.txt", 500_000_000, func(i int) string { return fmt.Sprintf("%d\n\n", i) }},
		{"latin.txt", 450_000_000, func(i int) string {
			return fmt.Sprintf("Satz %d \xfcber gr\xfcne \xc4pfel und sch\xf6ne Stra\xdfen.\n\n", i)
		}},
		{"rows.csv", 300_000_000, func(i int) string {
			if i == 0 {
				return "Number,Name,City,Sum\n"
			}
			return fmt.Sprintf("%d,Name of the person %d,City %d,%d\n", i, i, i%1000, i*7)
		}},
	} {
		t.Run(f.name, func(t *testing.T) {
			text := readLarge(t, f.name, written(t, f.size, f.line))
			if len(text.Body) < f.size*8/10 {
				t.Errorf("only %d bytes of text", len(text.Body))
			}
		})
	}
}

func TestLongPDF(t *testing.T) {
	needLarge(t)
	const pages = 5000
	var contents []string
	for i := range pages {
		var lines []string
		for j := range 55 {
			lines = append(lines, fmt.Sprintf("Page %d, line %d: the quick brown fox jumps over the lazy dog near the river bank.", i+1, j+1))
		}
		contents = append(contents, show(lines...))
	}
	file := written(t, 1, func(int) string { return string(newPDF().pages(contents...).bytes("")) })
	text := readLarge(t, "x.pdf", file)
	if text.Pages != pages || !strings.Contains(text.Body, "Page 5000, line 30:") {
		t.Errorf("%d pages", text.Pages)
	}
}
