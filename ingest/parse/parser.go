package parse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ragagent/store"
)

// Config sets the limits of a Parser. The zero value is usable.
type Config struct {
	MaxBytes  int64 // of a file; 0 means 512 MiB
	MaxText   int   // bytes of normalised text; 0 means 512 MiB
	MaxBlocks int   // of a text, and lines of a PDF; 0 means 1,000,000

	// Children bounds the child processes at work at once; further files wait.
	// 0 means 2.
	Children int
	// Memory bounds what one child may allocate, in bytes; 0 means 512 MiB. On
	// systems other than Linux it is a goal, not a limit.
	Memory int64
	// Timeout bounds the time one file may take in children, waiting for a
	// place not counted; 0 means 2 minutes. It is also the limit of their
	// processor time.
	Timeout time.Duration
	// Stall bounds the time a child may take for one page; 0 means 20 s. The
	// page is then left out, with a warning.
	Stall time.Duration
	// Executable is the program that calls ChildMain first; "" means this one.
	Executable string
	// TempDir holds copies, while they are read in a child, of files that are not
	// on disk, and on systems other than Linux of any; "" means the system's.
	TempDir string
}

func (c Config) withDefaults() Config {
	c.MaxBytes = orDefault(c.MaxBytes, 512<<20)
	c.MaxText = orDefault(c.MaxText, 512<<20)
	c.MaxBlocks = orDefault(c.MaxBlocks, 1_000_000)
	c.Children = orDefault(c.Children, 2)
	c.Memory = orDefault(c.Memory, 512<<20)
	c.Timeout = orDefault(c.Timeout, 2*time.Minute)
	c.Stall = orDefault(c.Stall, 20*time.Second)
	return c
}

func orDefault[T int | int64 | time.Duration](v, standard T) T {
	if v == 0 {
		return standard
	}
	return v
}

// Parser reads files. It may be used concurrently.
type Parser struct {
	cfg     Config
	sandbox *sandbox
}

// New makes a Parser; negative limits are store.ErrInvalid.
func New(cfg Config) (*Parser, error) {
	cfg = cfg.withDefaults()
	if cfg.MaxBytes < 0 || cfg.MaxText < 0 || cfg.MaxBlocks < 0 || cfg.Children < 0 ||
		cfg.Memory < 0 || cfg.Timeout < 0 || cfg.Stall < 0 {
		return nil, store.Invalid("parse", "limits must not be negative")
	}
	box, err := newSandbox(cfg)
	if err != nil {
		return nil, err
	}
	return &Parser{cfg: cfg, sandbox: box}, nil
}

// Close ends the children that wait for files. Files that are being read are
// read to their end.
func (p *Parser) Close() error {
	p.sandbox.pool.close()
	return nil
}

// Parse reads a file. Its content decides what it is; name helps to tell text
// formats from each other. It does not close file. Errors wrap ErrNoText,
// ErrUnsupported, ErrEncrypted, ErrDamaged or ErrLimit where the file is to
// blame, and are otherwise of ctx or of reading.
func (p *Parser) Parse(ctx context.Context, name string, file store.Blob) (Text, error) {
	return p.ParseTold(ctx, name, file, func(int, int) {})
}

// ParseTold is Parse that tells how far it is, often and from one goroutine at a
// time: pages of a PDF, else about bytes of text; total is 0 while it is unknown.
func (p *Parser) ParseTold(ctx context.Context, name string, file store.Blob, tell func(done, total int)) (Text, error) {
	size := file.Size()
	switch {
	case size == 0:
		return Text{}, fmt.Errorf("%w: the file is empty", ErrNoText)
	case size > p.cfg.MaxBytes:
		return Text{}, fmt.Errorf("%w: the file has more than %d MB", ErrLimit, p.cfg.MaxBytes>>20)
	}
	head := make([]byte, min(size, headBytes))
	if _, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return Text{}, fmt.Errorf("read %s: %w", name, err)
	}
	switch sniff(head) {
	case formatPDF:
		return p.parsePDF(ctx, file, tell)
	case "":
	default:
		return p.parseApart(ctx, name, file, tell)
	}
	if kind := binaryKind(head); kind != "" {
		return Text{}, fmt.Errorf("%w: it looks like %s", ErrUnsupported, kind)
	}
	return p.parseText(ctx, name, file, tell)
}

// finish makes the Text of a reading.
func (p *Parser) finish(r *reading) (Text, error) {
	if r.body.err != nil {
		return Text{}, r.body.err
	}
	if len(r.body.blocks) == 0 {
		return Text{}, fmt.Errorf("%w: the file is blank", ErrNoText)
	}
	text := r.body.out.String()
	if unused := r.body.out.Cap() - len(text); unused > longText && unused > len(text) {
		text = strings.Clone(text) // so that the room is given back
	}
	if lost := strings.Count(text, "\uFFFD"); 200*lost > len(text) && !saysLost(r.warnings) {
		r.warn(fmt.Sprintf("%d characters of the text could not be read", lost))
	}
	pages := 0
	for _, b := range r.body.blocks {
		pages = max(pages, b.Page)
	}
	return Text{
		Title:      short(r.title, maxTitle),
		MIME:       traits[r.format].mime,
		Body:       text,
		Blocks:     r.body.blocks,
		Pages:      pages,
		Properties: bounded(r.meta),
		Warnings:   r.warnings,
	}, nil
}

// saysLost says that a warning counts the characters that could not be read.
func saysLost(warnings []string) bool {
	return slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "characters could not be read") })
}

// maxTitle bounds Text.Title, in bytes.
const maxTitle = 512
