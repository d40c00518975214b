package ingest

import (
	"context"
	"errors"
	"fmt"

	"ragagent/ingest/chunk"
	"ragagent/ingest/parse"
	"ragagent/store"
)

// Draft is a file that may be added, and what is asked about it.
type Draft struct {
	Name  string // a hint about the format, as that of Upload
	Title string // "" lets the parser find one
	File  store.Blob
	// Chunking takes the place of the knowledge base's own; nil leaves it.
	Chunking *store.Chunking
	// Of the chunks, Limit are returned, from the one with number From on.
	From, Limit int
}

// Preview is how a file would be read and cut.
type Preview struct {
	Name      string
	MIME      string
	Title     string
	Pages     int
	TextBytes int64
	Warnings  []string
	Chunking  store.Chunking // that it was cut by
	Chunks    []PreviewChunk // those asked for
	Total     int            // of all chunks
}

// PreviewChunk is a chunk without an id or a vector.
type PreviewChunk struct {
	store.Chunk
	Tokens       int
	ParentTokens int // 0 without a parent
}

// Preview parses and cuts a file as a job would, and keeps nothing of it.
// store.ErrNotFound, store.ErrInvalid with the field: "file" for one that
// cannot be read, with the reason in words for users.
func (s *Service) Preview(ctx context.Context, idOrName string, d Draft) (Preview, error) {
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return Preview{}, err
	}
	name, err := cleanName(d.Name)
	if err != nil {
		return Preview{}, err
	}
	if d.Chunking != nil {
		kb.Chunking = *d.Chunking
	}
	if err := chunk.Check(kb.Chunking); err != nil { // before the file is read
		return Preview{}, err
	}
	text, err := s.cfg.Parser.Parse(ctx, name, d.File)
	if err != nil {
		return Preview{}, unreadable(err)
	}
	p := Preview{
		Name: name, MIME: text.MIME, Title: d.Title, Pages: text.Pages, TextBytes: int64(len(text.Body)),
		Warnings: text.Warnings, Chunking: kb.Chunking,
	}
	if p.Title == "" {
		p.Title = titleOf(text.Title, name)
	}
	err = p.cut(text, d)
	return p, err
}

// cut fills in the chunks.
func (p *Preview) cut(text parse.Text, d Draft) error {
	err := chunk.Each(text, p.Chunking, func(piece chunk.Piece) {
		if p.Total >= d.From && p.Total-d.From < d.Limit {
			p.Chunks = append(p.Chunks, p.chunk(text.Body, piece))
		}
		p.Total++
	})
	switch {
	case err != nil:
		return fmt.Errorf("cut the text: %w", err)
	case p.Total == 0:
		return unreadable(parse.ErrNoText)
	}
	return nil
}

func (p *Preview) chunk(body string, piece chunk.Piece) PreviewChunk {
	out := PreviewChunk{Chunk: store.Chunk{
		Ordinal: p.Total, Title: p.Title, Headings: piece.Headings, PageStart: piece.PageStart, PageEnd: piece.PageEnd,
		Span: piece.Span, Text: body[piece.Span.Start:piece.Span.End], Context: piece.Context, Parent: piece.Parent,
	}}
	out.Tokens = chunk.Tokens(out.Text)
	out.ParentTokens = chunk.Tokens(body[piece.Parent.Start:piece.Parent.End])
	return out
}

// unreadable makes an error of parsing that the file is to blame for one that
// names it.
func unreadable(err error) error {
	for _, fault := range []error{parse.ErrNoText, parse.ErrUnsupported, parse.ErrEncrypted, parse.ErrDamaged, parse.ErrLimit} {
		if errors.Is(err, fault) {
			return store.Invalid("file", "%v", err)
		}
	}
	return fmt.Errorf("parse: %w", err)
}
