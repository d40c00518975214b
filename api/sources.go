package api

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"ragagent/ingest"
	"ragagent/store"
)

type sourceStateAnswer struct {
	Origin     string       `json:"origin"`
	Path       string       `json:"path"`
	DocumentID string       `json:"document_id"`
	SHA256     string       `json:"sha256"` // of the latest content, visible or not
	Status     store.Status `json:"status"` // of the document
}

// listSources lists what one origin has, by path.
func (s *Server) listSources(c echo.Context) error {
	query := c.QueryParams()
	limit, err := limitOf(query)
	if err != nil {
		return err
	}
	after, err := base64.RawURLEncoding.DecodeString(query.Get("cursor"))
	if err != nil || len(after) > store.MaxPath {
		return invalidField("cursor", "is not one this server gave: take next_cursor of the page before")
	}
	kb, err := s.knowledgeBase(c)
	if err != nil {
		return err
	}
	page := store.Page{Limit: limit, After: string(after)}
	rows, err := s.cfg.Records.Sources(c.Request().Context(), kb.ID, query.Get("origin"), probe(page))
	if err != nil {
		return err
	}
	next := func(last store.SourceState) string { return base64.RawURLEncoding.EncodeToString([]byte(last.Path)) }
	return reply(c, http.StatusOK, listOf(rows, page, next, func(r store.SourceState) sourceStateAnswer {
		return sourceStateAnswer{Origin: r.Origin, Path: r.Path, DocumentID: r.DocumentID, SHA256: r.SHA256, Status: r.Status}
	}))
}

// removeSource removes one source of a document, and the document with its last.
func (s *Server) removeSource(c echo.Context, kb store.KnowledgeBase, id string, query url.Values) error {
	source := store.Source{Origin: query.Get("origin"), Path: query.Get("path")}
	if source.Path == "" {
		return invalidField("path", "is missing: name the source to be removed, or leave origin out to delete the document")
	}
	if _, err := s.cfg.Ingest.RemoveSource(c.Request().Context(), kb.ID, id, source); err != nil {
		return missing(err, "such source of document", id)
	}
	return c.NoContent(http.StatusNoContent)
}

type documentPatch struct {
	Title *string `json:"title"`
	// Metadata is a merge patch (RFC 7396): null takes a key away.
	Metadata json.RawMessage `json:"metadata"`
}

// updateDocument changes metadata at once, and a title with a revision.
func (s *Server) updateDocument(c echo.Context) error {
	kb, err := s.knowledgeBase(c)
	if err != nil {
		return err
	}
	var in documentPatch
	if _, err := decodeJSON(c.Request(), s.cfg.MaxJSONBytes, &in); err != nil {
		return err
	}
	change := ingest.DocumentChange{Title: in.Title}
	if in.Metadata != nil {
		if change.Metadata, err = metadataFrom(in.Metadata); err != nil {
			return err
		}
		for key, value := range change.Metadata {
			if value == nil {
				delete(change.Metadata, key)
				change.Remove = append(change.Remove, key)
			}
		}
		slices.Sort(change.Remove)
	}
	id := param(c, "id")
	done, err := s.cfg.Ingest.UpdateDocument(c.Request().Context(), kb.ID, id, change)
	if err != nil {
		return missing(err, "document", id)
	}
	answer, err := s.documentsOf(c.Request().Context(), []store.Document{done.Document})
	if err != nil {
		return err
	}
	if done.Job.ID != "" {
		return reply(c, http.StatusAccepted, answer(done.Document))
	}
	return reply(c, http.StatusOK, answer(done.Document))
}
