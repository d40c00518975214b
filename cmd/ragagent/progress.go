package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress shows how far an ingest is: bars on a terminal, a line now and then
// elsewhere.
type progress struct {
	bars  *mpb.Progress // nil when not on a terminal
	files *mpb.Bar

	mu      sync.Mutex
	current string
	out     io.Writer
	total   int
	done    int
	spoke   time.Time
}

// quiet is how long a log is left alone between two lines of progress.
const quiet = 5 * time.Second

func newProgress(out io.Writer, files int) *progress {
	p := &progress{out: out, total: files, spoke: time.Now()}
	f, isFile := out.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return p
	}
	p.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(60), mpb.WithRefreshRate(120*time.Millisecond))
	p.files = p.bars.AddBar(int64(files),
		mpb.PrependDecorators(decor.CountersNoUnit("%d / %d files ")),
		mpb.AppendDecorators(
			decor.Percentage(decor.WCSyncSpace),
			decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace),
			decor.Any(func(decor.Statistics) string {
				p.mu.Lock()
				defer p.mu.Unlock()
				return "  " + p.current
			}),
		),
	)
	return p
}

// sent tells how many files the server has accepted.
func (p *progress) sent(n int) {
	p.say(fmt.Sprintf("%d of %d files sent", n, p.total))
}

// at tells what is being worked on.
func (p *progress) at(name string, job jobState) {
	name = plain(name)
	if r := []rune(name); len(r) > 40 {
		name = string(r[:37]) + "..."
	}
	text := name + " " + job.state()
	p.mu.Lock()
	p.current = text
	p.mu.Unlock()
	if !job.ended() {
		p.say(text)
	}
}

// ended counts a file as finished, well or not.
func (p *progress) ended() {
	p.mu.Lock()
	p.done++
	n := p.done
	p.mu.Unlock()
	if p.files != nil {
		p.files.Increment()
	}
	p.say(fmt.Sprintf("%d of %d files done", n, p.total))
}

func (p *progress) say(line string) {
	if p.bars != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.spoke) < quiet {
		return
	}
	p.spoke = time.Now()
	fmt.Fprintln(p.out, line)
}

// finish leaves the last state on the screen.
func (p *progress) finish() {
	if p.bars == nil {
		return
	}
	p.mu.Lock()
	p.current = ""
	p.mu.Unlock()
	p.files.Abort(false)
	p.bars.Wait()
}
