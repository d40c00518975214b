package api

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"ragagent/store"
)

type documentAnswer struct {
	ID              string `json:"id"`
	KnowledgeBaseID string `json:"knowledge_base_id"`
	Name            string `json:"name"`
	// Path and Origin are those of the first of Sources.
	Path       string         `json:"path"`
	Origin     string         `json:"origin"`
	Sources    []sourceAnswer `json:"sources"`
	Title      string         `json:"title"`
	Status     store.Status   `json:"status"`
	Error      string         `json:"error,omitempty"`
	MIME       string         `json:"mime"`
	Bytes      int64          `json:"bytes"`
	SHA256     string         `json:"sha256"`
	TextBytes  int64          `json:"text_bytes"`
	Pages      int            `json:"pages,omitempty"`
	ChunkCount int            `json:"chunk_count"`
	Revision   int            `json:"revision"`
	// Pending is what is to take the place of the visible revision.
	Pending  *pendingAnswer `json:"pending_revision,omitempty"`
	Metadata store.Metadata `json:"metadata"`
	Warnings []string       `json:"warnings"`
	JobID    string         `json:"job_id,omitempty"` // the latest
	// Job is how far it is; null if it has ended.
	Job *documentJob `json:"job"`
	// Address is the URL it comes from; nil if it comes from none.
	Address   *addressAnswer `json:"address,omitempty"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
}

type sourceAnswer struct {
	Origin string `json:"origin"`
	Path   string `json:"path"`
}

type pendingAnswer struct {
	Revision  int       `json:"revision"`
	Name      string    `json:"name"`
	Bytes     int64     `json:"bytes"`
	SHA256    string    `json:"sha256"`
	CreatedAt time.Time `json:"created_at"`
}

func documentOf(d store.Document) documentAnswer {
	out := documentAnswer{
		ID:              d.ID,
		KnowledgeBaseID: d.KnowledgeBaseID,
		Name:            d.Name,
		Title:           d.Title,
		Status:          d.Status,
		Error:           d.Error,
		MIME:            d.MIME,
		Bytes:           d.Bytes,
		SHA256:          d.SHA256,
		TextBytes:       d.TextBytes,
		Pages:           d.Pages,
		ChunkCount:      d.ChunkCount,
		Revision:        d.Revision,
		Metadata:        metadataOf(d.Metadata),
		Warnings:        array(d.Warnings),
		CreatedAt:       d.CreatedAt.UTC(),
		UpdatedAt:       d.UpdatedAt.UTC(),
		Sources:         make([]sourceAnswer, len(d.Sources)),
	}
	for i, s := range d.Sources {
		out.Sources[i] = sourceAnswer(s)
	}
	if len(d.Sources) > 0 {
		out.Path, out.Origin = d.Sources[0].Path, d.Sources[0].Origin
	}
	if p := d.Pending; p != nil {
		out.Pending = &pendingAnswer{Revision: p.Revision, Name: p.Name, Bytes: p.Bytes, SHA256: p.SHA256, CreatedAt: p.CreatedAt.UTC()}
	}
	return out
}

// metadataOf is m, {} where there is none.
func metadataOf(m store.Metadata) store.Metadata {
	if m == nil {
		return store.Metadata{}
	}
	return m
}

// array is s, [] where there is none: clients iterate without looking.
func array[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (s *Server) listDocuments(c echo.Context) error {
	page, err := pageOf(c.QueryParams(), "doc")
	if err != nil {
		return err
	}
	kb, err := s.knowledgeBase(c)
	if err != nil {
		return err
	}
	rows, err := s.cfg.Records.Documents(c.Request().Context(), kb.ID, probe(page))
	if err != nil {
		return err
	}
	answer, err := s.documentsOf(c.Request().Context(), rows)
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, listOf(rows, page, func(d store.Document) string { return d.ID }, answer))
}

func (s *Server) getDocument(c echo.Context) error {
	doc, err := s.document(c)
	if err != nil {
		return err
	}
	answer, err := s.documentsOf(c.Request().Context(), []store.Document{doc})
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, answer(doc))
}

func (s *Server) deleteDocument(c echo.Context) error {
	kb, err := s.knowledgeBase(c)
	if err != nil {
		return err
	}
	id := param(c, "id")
	if query := c.QueryParams(); query.Has("origin") || query.Has("path") {
		return s.removeSource(c, kb, id, query)
	}
	if err := s.cfg.Ingest.DeleteDocument(c.Request().Context(), kb.ID, id); err != nil {
		return missing(err, "document", id)
	}
	return c.NoContent(http.StatusNoContent)
}

// document finds the one the address names.
func (s *Server) document(c echo.Context) (store.Document, error) {
	kb, err := s.knowledgeBase(c)
	if err != nil {
		return store.Document{}, err
	}
	id := param(c, "id")
	doc, err := s.cfg.Records.Document(c.Request().Context(), kb.ID, id)
	return doc, missing(err, "document", id)
}

// missing names what was not found, and leaves every other error alone.
func missing(err error, noun, id string) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	p := newProblem(http.StatusNotFound, CodeNotFound, "there is no %s %q", noun, id)
	p.cause = err
	return p
}

type chunkAnswer struct {
	ID         string   `json:"id"`
	DocumentID string   `json:"document_id"`
	Ordinal    int      `json:"ordinal"`
	Title      string   `json:"title"`
	Headings   []string `json:"headings"`
	PageStart  int      `json:"page_start,omitempty"`
	PageEnd    int      `json:"page_end,omitempty"`
	CharStart  int      `json:"char_start"`
	CharEnd    int      `json:"char_end"`
	Text       string   `json:"text"`
	Context    string   `json:"context,omitempty"`
	// Parent is where the section stands that is shown in the chunk's place.
	Parent *sectionAnswer `json:"parent,omitempty"`
}

func chunkOf(c store.Chunk) chunkAnswer {
	out := chunkAnswer{
		ID:         c.ID,
		DocumentID: c.DocumentID,
		Ordinal:    c.Ordinal,
		Title:      c.Title,
		Headings:   array(c.Headings),
		PageStart:  c.PageStart,
		PageEnd:    c.PageEnd,
		CharStart:  c.Span.Start,
		CharEnd:    c.Span.End,
		Text:       c.Text,
		Context:    c.Context,
	}
	if c.Parent != (store.Section{}) {
		section := sectionOf(c.Parent)
		out.Parent = &section
	}
	return out
}

func (s *Server) listChunks(c echo.Context) error {
	page, from, err := chunkPageOf(c.QueryParams())
	if err != nil {
		return err
	}
	doc, err := s.document(c)
	if err != nil {
		return err
	}
	rows, err := s.cfg.Records.DocumentChunks(c.Request().Context(), doc.ID, from, probe(page).Limit)
	if err != nil {
		return missing(err, "document", doc.ID)
	}
	next := func(last store.Chunk) string { return strconv.Itoa(last.Ordinal + 1) }
	return reply(c, http.StatusOK, listOf(rows, page, next, chunkOf))
}

// chunkPageOf reads limit and cursor of a listing of chunks, whose cursor is
// the ordinal it goes on with.
func chunkPageOf(query url.Values) (page store.Page, from int, err error) {
	if page.Limit, err = limitOf(query); err != nil {
		return page, 0, err
	}
	if cursor := query.Get("cursor"); cursor != "" {
		if from, err = strconv.Atoi(cursor); err != nil || from < 0 {
			return page, 0, invalidField("cursor", "is not one this server gave: take next_cursor of the page before")
		}
	}
	return page, from, nil
}
