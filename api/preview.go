package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"ragagent/ingest"
	"ragagent/store"
)

// Bounds of previews.
const (
	maxPreviews    = 2 // at work at a time: each parses a file
	previewTimeout = 5 * time.Minute
	previewChunks  = 20  // of an answer that does not say
	maxPreviewed   = 200 // chunks of an answer
	maxChunking    = 4 << 10
)

type previewRequest struct {
	Name     string          `json:"name"`
	Title    string          `json:"title"`
	Text     *string         `json:"text"`
	Chunking *store.Chunking `json:"chunking"`
}

type previewAnswer struct {
	Name        string               `json:"name"`
	MIME        string               `json:"mime"`
	Title       string               `json:"title"`
	Pages       int                  `json:"pages,omitempty"`
	TextBytes   int64                `json:"text_bytes"`
	Warnings    []string             `json:"warnings"`
	Chunking    store.Chunking       `json:"chunking"`
	Chunks      []previewChunkAnswer `json:"chunks"`
	TotalChunks int                  `json:"total_chunks"`
}

type previewChunkAnswer struct {
	Ordinal   int               `json:"ordinal"`
	Headings  []string          `json:"headings"`
	Context   string            `json:"context,omitempty"`
	PageStart int               `json:"page_start,omitempty"`
	PageEnd   int               `json:"page_end,omitempty"`
	CharStart int               `json:"char_start"`
	CharEnd   int               `json:"char_end"`
	Text      string            `json:"text"`
	Tokens    int               `json:"tokens"`
	Parent    *previewedSection `json:"parent,omitempty"`
}

type previewedSection struct {
	sectionAnswer
	Tokens int `json:"tokens"`
}

// preview shows how a file would be cut, and stores nothing.
func (s *Server) preview(c echo.Context) error {
	kb, err := s.knowledgeBase(c) // before a byte of the body is read
	if err != nil {
		return err
	}
	var d draft
	if d.Limit, d.From, err = previewWindow(c.QueryParams()); err != nil {
		return err
	}
	defer d.close()
	if err := s.readDraft(c.Request(), &d); err != nil {
		return err
	}
	shown, err := s.previewDraft(c.Request().Context(), kb, d.Draft)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return unknownKnowledgeBase("", kb.Name, err) // deleted meanwhile
	case err != nil:
		return err
	}
	return reply(c, http.StatusOK, previewOf(shown))
}

// previewDraft has a draft read when there is a place for it.
func (s *Server) previewDraft(ctx context.Context, kb store.KnowledgeBase, d ingest.Draft) (ingest.Preview, error) {
	leave, err := s.previews.enter(ctx)
	if err != nil {
		return ingest.Preview{}, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, previewTimeout)
	defer cancel()
	return s.cfg.Ingest.Preview(ctx, kb.ID, d)
}

// previewWindow reads limit and offset.
func previewWindow(query url.Values) (limit, offset int, err error) {
	limit = previewChunks
	if given := query.Get("limit"); given != "" {
		if limit, err = strconv.Atoi(given); err != nil || limit < 1 || limit > maxPreviewed {
			return 0, 0, invalidField("limit", "must be a whole number from 1 to %d", maxPreviewed)
		}
	}
	if given := query.Get("offset"); given != "" {
		if offset, err = strconv.Atoi(given); err != nil || offset < 0 {
			return 0, 0, invalidField("offset", "must be a whole number from 0 on")
		}
	}
	return limit, offset, nil
}

// draft is a file to be previewed, until it is closed.
type draft struct {
	ingest.Draft
	spool spooled
	leave func() // the gate of large texts, if it came through it
}

func (d *draft) close() {
	if d.File != nil {
		_ = d.File.Close() // it was only read
	}
	d.spool.remove()
	if d.leave != nil {
		d.leave()
	}
}

// readDraft reads a whole request. The draft is the caller's to close, also
// after an error.
func (s *Server) readDraft(r *http.Request, d *draft) error {
	switch mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); mediaType {
	case "multipart/form-data":
		return s.readDraftForm(r, d)
	case "application/json":
		return s.readDraftText(r, d)
	}
	return newProblem(http.StatusUnsupportedMediaType, CodeMediaType,
		"send a file as multipart/form-data or a text as application/json, not %q", r.Header.Get("Content-Type"))
}

func (s *Server) readDraftText(r *http.Request, d *draft) (err error) {
	if d.leave, err = s.admitText(r); err != nil {
		return err
	}
	var in previewRequest
	if _, err := decodeJSON(r, min(s.cfg.MaxTextBytes, s.cfg.MaxFileBytes), &in); err != nil {
		return err
	}
	up, err := uploadOf(textRequest{Name: in.Name, Title: in.Title, Text: in.Text})
	if err != nil {
		return err
	}
	d.Name, d.Title, d.Chunking = up.Name, up.Title, in.Chunking
	d.File = memory{bytes.NewReader([]byte(*in.Text))}
	return nil
}

func (s *Server) readDraftForm(r *http.Request, d *draft) error {
	var f form
	err := s.eachPart(r, s.cfg.MaxFileBytes, func(part *multipart.Part) error {
		switch name := part.FormName(); {
		case name == "file" && len(f.files) > 0:
			return invalidField("file", "stands here twice: one file is previewed at a time")
		case name == "file":
			return s.readFile(part, &f, io.Discard)
		case name == "chunking":
			return readChunking(partReader{part}, &d.Chunking)
		default:
			return invalidField(name, "is not a part of a preview: the parts are file and chunking")
		}
	})
	if len(f.files) > 0 {
		d.spool = f.files[0]
	}
	switch {
	case err != nil:
		return err
	case len(f.files) == 0:
		return invalidField("file", "is missing: send one part named file")
	}
	d.Name = d.spool.name
	d.File, err = d.spool.blob()
	return err
}

func readChunking(r io.Reader, into **store.Chunking) error {
	if *into != nil {
		return invalidField("chunking", "stands here twice")
	}
	raw, err := io.ReadAll(io.LimitReader(r, maxChunking+1))
	if err != nil {
		return err
	}
	if len(raw) > maxChunking {
		return invalidField("chunking", "has more than %d bytes", maxChunking)
	}
	// As a field of an object, so that what is wrong with it is named alike.
	var in struct {
		Chunking *store.Chunking `json:"chunking"`
	}
	if !json.Valid(raw) {
		return invalidField("chunking", "must be a JSON object")
	}
	err = decodeStrict(append(append([]byte(`{"chunking":`), raw...), '}'), &in)
	*into = in.Chunking
	return err
}

// blob opens an upload for reading from any place.
func (s spooled) blob() (store.Blob, error) {
	if s.path == "" {
		return memory{bytes.NewReader(s.small)}, nil
	}
	f, err := os.Open(s.path)
	return fileBlob{f, s.size}, err
}

// memory is a small file.
type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

// fileBlob is an upload on the disk.
type fileBlob struct {
	*os.File
	size int64
}

func (f fileBlob) Size() int64 { return f.size }

func previewOf(p ingest.Preview) previewAnswer {
	out := previewAnswer{
		Name:        p.Name,
		MIME:        p.MIME,
		Title:       p.Title,
		Pages:       p.Pages,
		TextBytes:   p.TextBytes,
		Warnings:    array(p.Warnings),
		Chunking:    p.Chunking,
		Chunks:      make([]previewChunkAnswer, len(p.Chunks)),
		TotalChunks: p.Total,
	}
	for i, c := range p.Chunks {
		out.Chunks[i] = previewChunkAnswer{
			Ordinal:   c.Ordinal,
			Headings:  array(c.Headings),
			Context:   c.Context,
			PageStart: c.PageStart,
			PageEnd:   c.PageEnd,
			CharStart: c.Span.Start,
			CharEnd:   c.Span.End,
			Text:      c.Text,
			Tokens:    c.Tokens,
		}
		if c.Parent != (store.Section{}) {
			out.Chunks[i].Parent = &previewedSection{sectionOf(c.Parent), c.ParentTokens}
		}
	}
	return out
}
