package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"ragagent/ingest"
	"ragagent/store"
)

type knowledgeBaseRequest struct {
	Name        string                   `json:"name"`
	Description string                   `json:"description"`
	Embedder    string                   `json:"embedder"`
	Chunking    *store.Chunking          `json:"chunking"`
	Retrieval   *store.RetrievalSettings `json:"retrieval"`
}

type knowledgeBasePatch struct {
	Name        *string                  `json:"name"`
	Description *string                  `json:"description"`
	Embedder    *string                  `json:"embedder"`
	Chunking    *store.Chunking          `json:"chunking"`
	Retrieval   *store.RetrievalSettings `json:"retrieval"`
}

type knowledgeBaseAnswer struct {
	ID            string                  `json:"id"`
	Name          string                  `json:"name"`
	Description   string                  `json:"description"`
	Embedder      string                  `json:"embedder"`
	Chunking      store.Chunking          `json:"chunking"`
	Retrieval     store.RetrievalSettings `json:"retrieval"`
	DocumentCount int                     `json:"document_count"`
	ChunkCount    int                     `json:"chunk_count"`
	CreatedAt     time.Time               `json:"created_at"`
	UpdatedAt     time.Time               `json:"updated_at"`
	// State is "ready", "loading" while the indexes are built, or
	// "quarantined", with the reason in Error.
	State string `json:"state"`
	Error string `json:"error,omitempty"`
	// DenseWeight is what the vectors count beside the words.
	DenseWeight *denseWeightAnswer `json:"dense_weight,omitempty"`
	// Notices say what a change does not do by itself.
	Notices []string `json:"notices,omitempty"`
}

func (s *Server) knowledgeBaseOf(kb store.KnowledgeBase) knowledgeBaseAnswer {
	out := knowledgeBaseOf(kb)
	if err := s.cfg.Quarantined(kb.ID); err != nil {
		out.State, out.Error = "quarantined", err.Error()
	} else if !s.cfg.Ready().Ready {
		out.State = "loading"
	}
	if s.cfg.DenseWeight != nil {
		out.DenseWeight = denseWeightOf(s.cfg.DenseWeight(kb))
	}
	return out
}

func knowledgeBaseOf(kb store.KnowledgeBase) knowledgeBaseAnswer {
	return knowledgeBaseAnswer{
		ID:            kb.ID,
		Name:          kb.Name,
		Description:   kb.Description,
		Embedder:      kb.Embedder,
		Chunking:      kb.Chunking,
		Retrieval:     kb.Retrieval,
		DocumentCount: kb.DocumentCount,
		ChunkCount:    kb.ChunkCount,
		CreatedAt:     kb.CreatedAt.UTC(),
		UpdatedAt:     kb.UpdatedAt.UTC(),
		State:         "ready",
	}
}

func (s *Server) createKnowledgeBase(c echo.Context) error {
	var in knowledgeBaseRequest
	body, err := decodeJSON(c.Request(), s.cfg.MaxJSONBytes, &in)
	if err != nil {
		return err
	}
	kb := store.KnowledgeBase{Name: in.Name, Description: in.Description, Embedder: in.Embedder}
	if in.Chunking != nil {
		kb.Chunking = *in.Chunking
	}
	if in.Retrieval != nil {
		kb.Retrieval = *in.Retrieval
	}
	return s.once(c, fingerprintOf(body), func() (int, any, error) {
		made, err := s.cfg.Ingest.CreateKnowledgeBase(c.Request().Context(), kb)
		if errors.Is(err, store.ErrConflict) {
			return 0, nil, taken(in.Name, err)
		}
		return http.StatusCreated, s.knowledgeBaseOf(made), err
	})
}

func (s *Server) listKnowledgeBases(c echo.Context) error {
	page, err := pageOf(c.QueryParams(), "kb")
	if err != nil {
		return err
	}
	rows, err := s.cfg.Records.KnowledgeBases(c.Request().Context(), probe(page))
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, listOf(rows, page, func(kb store.KnowledgeBase) string { return kb.ID }, s.knowledgeBaseOf))
}

func (s *Server) getKnowledgeBase(c echo.Context) error {
	kb, err := s.knowledgeBase(c)
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, s.knowledgeBaseOf(kb))
}

func (s *Server) updateKnowledgeBase(c echo.Context) error {
	var in knowledgeBasePatch
	if _, err := decodeJSON(c.Request(), s.cfg.MaxJSONBytes, &in); err != nil {
		return err
	}
	name := param(c, "kb")
	kb, err := s.cfg.Ingest.UpdateKnowledgeBase(c.Request().Context(), name, ingest.KnowledgeBaseChange{
		Name:        in.Name,
		Description: in.Description,
		Chunking:    in.Chunking,
		Retrieval:   in.Retrieval,
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return unknownKnowledgeBase("", name, err)
	case errors.Is(err, store.ErrConflict) && in.Name != nil:
		return taken(*in.Name, err)
	case err != nil:
		return err
	}
	var change *store.EmbedderChange
	if in.Embedder != nil && *in.Embedder != kb.Embedder {
		c, err := s.cfg.Ingest.ChangeEmbedder(c.Request().Context(), kb.ID, ingest.EmbedderRequest{Embedder: *in.Embedder, Auto: true})
		if err != nil {
			return err
		}
		change = &c
	}
	out := s.knowledgeBaseOf(kb)
	if change != nil {
		out.Notices = append(out.Notices, reembedNotice(*change))
	}
	if in.Chunking != nil && kb.DocumentCount > 0 {
		out.Notices = append(out.Notices, fmt.Sprintf(oldChunking, kb.DocumentCount))
	}
	return reply(c, http.StatusOK, out)
}

// oldChunking is what to know after a change of chunking.
const oldChunking = "the new chunking holds for documents added from now on; the %d that are here keep their chunks until they are added again"

func (s *Server) deleteKnowledgeBase(c echo.Context) error {
	name := param(c, "kb")
	err := s.cfg.Ingest.DeleteKnowledgeBase(c.Request().Context(), name)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return unknownKnowledgeBase("", name, err)
	case err != nil:
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// knowledgeBase finds the one the address names.
func (s *Server) knowledgeBase(c echo.Context) (store.KnowledgeBase, error) {
	return s.findKnowledgeBase(c.Request().Context(), "", param(c, "kb"))
}

// findKnowledgeBase finds one by id or name; field says where the client named
// it, "" in the address.
func (s *Server) findKnowledgeBase(ctx context.Context, field, idOrName string) (store.KnowledgeBase, error) {
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if errors.Is(err, store.ErrNotFound) {
		return kb, unknownKnowledgeBase(field, idOrName, err)
	}
	return kb, err
}

func unknownKnowledgeBase(field, idOrName string, err error) error {
	p := newProblem(http.StatusNotFound, CodeNotFound, "there is no knowledge base %q", idOrName)
	if field != "" {
		p.Errors = []ProblemField{{Field: field, Detail: p.Detail}}
	}
	p.cause = err
	return p
}

func taken(name string, err error) error {
	p := newProblem(http.StatusConflict, CodeConflict, "there is a knowledge base %q already", name)
	p.Errors = []ProblemField{{Field: "name", Detail: "is taken"}}
	p.cause = err
	return p
}
