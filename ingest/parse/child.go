package parse

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"ragagent/ingest/parse/pdf"
)

// childArgument marks a process as a parser child. It looks like a flag, so
// that a program which does not call ChildMain refuses to start with it.
const childArgument = "-ragagent-parse-child"

// IsChild says whether this process was started to parse a file.
func IsChild() bool {
	return len(os.Args) == 3 && os.Args[1] == childArgument
}

// ChildMain parses one file and ends the process, if this process was started
// for that; else it returns at once. Every program that uses a Parser, each
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
	if err := confine(t); err != nil {
		return fmt.Errorf("set limits: %w", err)
	}
	if err := writeFrame(out, frame{Hello: true}); err != nil {
		return err
	}
	if err := t.run(file, out); err != nil {
		return writeFrame(out, frame{Failure: failureOf(err)})
	}
	return writeFrame(out, frame{Done: true})
}

func (t task) run(file *os.File, out io.Writer) error {
	if t.Format == formatPDF {
		return t.readPDF(file, out)
	}
	return t.readText(file, out)
}

// readText reads a text of any format, which it tells first: a parent whose
// child dies of it can have it read in another way.
func (t task) readText(file *os.File, out io.Writer) error {
	found, err := t.decode(file)
	if err != nil {
		return err
	}
	if t.Format == formatPlain {
		found.format = formatPlain
	}
	if err := writeFrame(out, frame{Format: found.format}); err != nil {
		return err
	}
	r := found.read(t.MaxText, t.MaxBlocks)
	if r.body.err != nil {
		return r.body.err
	}
	head := wireReading{Title: title(r.title), Bytes: r.body.out.Len(), Meta: r.meta, Warnings: r.warnings}
	if err := writeFrame(out, frame{Reading: &head}); err != nil {
		return err
	}
	return r.eachBatch(func(f frame) error { return writeFrame(out, f) })
}

// decode reads the file as characters. Its bytes are not held any longer.
func (t task) decode(file *os.File) (textFile, error) {
	data, err := readFile(io.NewSectionReader(file, 0, t.Size))
	if err != nil {
		return textFile{}, err
	}
	return decode(t.Name, data)
}

func (t task) readPDF(file *os.File, out io.Writer) error {
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
	switch {
	case errors.Is(err, pdf.ErrEncrypted):
		return &failure{Code: "encrypted"}
	case errors.Is(err, pdf.ErrDamaged):
		_, message, _ := strings.Cut(err.Error(), ": ")
		return &failure{Code: "damaged", Message: message}
	}
	for code, sentinel := range failureCodes {
		if errors.Is(err, sentinel) {
			return &failure{Code: code, Message: err.Error()}
		}
	}
	return &failure{Code: "damaged", Message: err.Error()}
}
