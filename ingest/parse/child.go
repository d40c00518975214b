package parse

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"ragagent/ingest/parse/pdf"
)

// childArgument marks a process as a parser child. It looks like a flag, so
// that a program which does not call ChildMain refuses to start with it.
const childArgument = "-ragagent-parse-child"

// IsChild says whether this process was started to parse files.
func IsChild() bool {
	return len(os.Args) == 3 && os.Args[1] == childArgument
}

// ChildMain parses files and ends the process, if this process was started for
// that; else it returns at once. Every program that uses a Parser, each
// test binary too (in TestMain), calls it before anything else.
func ChildMain() {
	if !IsChild() {
		return
	}
	if err := runChild(os.Args[2], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// maxChildStack bounds a goroutine's stack in a child, in bytes.
const maxChildStack = 64 << 20

func runChild(arg string, file *os.File, out io.Writer) error {
	var t task
	if err := json.Unmarshal([]byte(arg), &t); err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	debug.SetMaxStack(maxChildStack)
	// Collecting rarely is faster; near the limit the collector works harder.
	debug.SetGCPercent(300)
	debug.SetMemoryLimit(t.Memory * 3 / 4)
	held, err := confine(t)
	if err != nil {
		return fmt.Errorf("set limits: %w", err)
	}
	if pooling {
		go leashed(os.NewFile(3, "leash"))
	}
	if err := writeFrame(out, frame{Hello: true}); err != nil {
		return err
	}
	if !t.Pooled {
		return t.do(file, out)
	}
	orders := os.NewFile(4, "orders")
	for {
		next, err := readOrder(orders)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = held.limit(next)
		}
		if err == nil {
			err = next.do(file, out)
		}
		if err != nil {
			return err
		}
	}
}

// leashed ends this process when the other end is closed: nobody wants to know
// any more, because the parent was killed.
func leashed(leash *os.File) {
	_, _ = leash.Read(make([]byte, 1)) // nothing is ever written
	os.Exit(1)
}

// do does a task and says how it ended.
func (t task) do(file io.ReaderAt, out io.Writer) error {
	end := frame{Done: true}
	if err := t.run(file, out); err != nil {
		end = frame{Failure: failureOf(err)}
	}
	end.Last = t.grown()
	return writeFrame(out, end)
}

// grown says that this process holds so much memory that the next file is better
// read by a new one.
func (t task) grown() bool {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys-m.HeapReleased > uint64(t.Memory/4)
}

func (t task) run(file io.ReaderAt, out io.Writer) error {
	if t.Format == formatPDF {
		return t.readPDF(file, out)
	}
	r := newReading("", t.MaxText, t.MaxBlocks)
	send := func(f frame) error { return writeFrame(out, f) }
	r.body.handOn = func(b *body) error { return b.send(send) }
	if err := t.read(io.NewSectionReader(file, 0, t.Size), r, send); err != nil {
		return err
	}
	r.body.flush()
	if r.body.err != nil {
		return r.body.err
	}
	return send(frame{Reading: &wireReading{Title: short(r.title, maxTitle), Meta: bounded(r.meta), Warnings: r.warnings}})
}

// read finds out the format, says so, and reads the file.
func (t task) read(file *io.SectionReader, r *reading, send func(frame) error) error {
	f, err := t.tell(file)
	if err != nil {
		return err
	}
	if f == "" {
		return t.readText(file, r, send)
	}
	if err := send(frame{Format: f}); err != nil {
		return err
	}
	return traits[f].read(file, t.Size, newSink(r))
}

func (t task) tell(file *io.SectionReader) (format, error) {
	if t.Format == formatPlain {
		return "", nil
	}
	return tell(file)
}

// readText reads a file that is written in characters.
func (t task) readText(file *io.SectionReader, r *reading, send func(frame) error) error {
	found, err := openText(t.Name, file)
	if err != nil {
		return err
	}
	if t.Format == formatPlain {
		found.format = formatPlain
	}
	if err := send(frame{Format: found.format, Expect: found.expect()}); err != nil {
		return err
	}
	if read := traits[found.format].read; read != nil {
		for _, warning := range found.warnings {
			r.warn(warning)
		}
		text, size := found.bytes()
		return read(text, size, newSink(r))
	}
	found.into(r)
	return nil
}

func (t task) readPDF(file io.ReaderAt, out io.Writer) error {
	doc, err := pdf.Open(file, t.Size)
	if err != nil {
		return err
	}
	info := doc.Info()
	if err := writeFrame(out, frame{Info: &info}); err != nil {
		return err
	}
	for n := max(1, t.First); n <= info.Pages; n++ {
		if err := writeFrame(out, packPage(doc.Page(n))); err != nil {
			return err
		}
	}
	return nil
}

// failureOf puts an error into words that travel.
func failureOf(err error) *failure {
	err = pdfError(err)
	for code, sentinel := range failureCodes {
		if errors.Is(err, sentinel) {
			message := strings.TrimPrefix(err.Error(), sentinel.Error())
			return &failure{Code: code, Message: strings.TrimPrefix(message, ": ")}
		}
	}
	return &failure{Code: "damaged", Message: err.Error()}
}
