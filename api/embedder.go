package api

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"ragagent/ingest"
	"ragagent/store"
)

type embedderRequest struct {
	Embedder  string                 `json:"embedder"`
	Auto      bool                   `json:"auto"`
	Compare   bool                   `json:"compare"`
	Questions []store.JudgedQuestion `json:"questions"`
}

// embedderAnswer is a change of a knowledge base's embedder.
type embedderAnswer struct {
	JobID           string            `json:"job_id"`
	KnowledgeBaseID string            `json:"knowledge_base_id"`
	State           store.ChangeState `json:"state"`
	// Embedder is that of the second set of vectors: the one to come before the
	// switch, and the one that was after it.
	Embedder   string            `json:"embedder"`
	Dimension  int               `json:"dimension"`
	Auto       bool              `json:"auto"`
	Done       int               `json:"done"`
	Total      int               `json:"total"`
	Comparison *store.Comparison `json:"comparison"`
	Error      string            `json:"error,omitempty"`
	Waiting    string            `json:"waiting,omitempty"`
	CreatedAt  time.Time         `json:"created_at"`
	UpdatedAt  time.Time         `json:"updated_at"`
}

func embedderOf(c store.EmbedderChange, waiting string) embedderAnswer {
	return embedderAnswer{
		JobID: c.ID, KnowledgeBaseID: c.KnowledgeBaseID, State: c.State, Embedder: c.Embedder, Dimension: c.Dimension,
		Auto: c.Auto, Done: c.Done, Total: c.Total, Comparison: c.Comparison, Error: c.Error, Waiting: waiting,
		CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(),
	}
}

func (s *Server) changeEmbedder(c echo.Context) error {
	var in embedderRequest
	body, err := decodeJSON(c.Request(), s.cfg.MaxJSONBytes, &in)
	if err != nil {
		return err
	}
	return s.once(c, fingerprintOf(body), func() (int, any, error) {
		change, err := s.cfg.Ingest.ChangeEmbedder(c.Request().Context(), param(c, "kb"), ingest.EmbedderRequest{
			Embedder: in.Embedder, Auto: in.Auto, Compare: in.Compare, Questions: in.Questions,
		})
		return http.StatusAccepted, embedderOf(change, ""), s.embedderProblem(c, err)
	})
}

func (s *Server) getEmbedder(c echo.Context) error {
	change, waiting, err := s.cfg.Ingest.EmbedderChange(c.Request().Context(), param(c, "kb"))
	if err != nil {
		return s.embedderProblem(c, err)
	}
	return reply(c, http.StatusOK, embedderOf(change, waiting))
}

func (s *Server) switchEmbedder(c echo.Context) error {
	change, err := s.cfg.Ingest.SwitchEmbedder(c.Request().Context(), param(c, "kb"))
	if err != nil {
		return s.embedderProblem(c, err)
	}
	return reply(c, http.StatusOK, embedderOf(change, ""))
}

func (s *Server) rollBackEmbedder(c echo.Context) error {
	change, err := s.cfg.Ingest.RollBackEmbedder(c.Request().Context(), param(c, "kb"))
	if err != nil {
		return s.embedderProblem(c, err)
	}
	return reply(c, http.StatusOK, embedderOf(change, ""))
}

func (s *Server) discardEmbedder(c echo.Context) error {
	if err := s.cfg.Ingest.DiscardEmbedder(c.Request().Context(), param(c, "kb")); err != nil {
		return s.embedderProblem(c, err)
	}
	return c.NoContent(http.StatusNoContent)
}

// embedderProblem says what is wrong with a request for another embedder.
func (s *Server) embedderProblem(c echo.Context, err error) error {
	var p *Problem
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		if _, missing := s.knowledgeBase(c); missing != nil {
			return missing
		}
		p = newProblem(http.StatusNotFound, CodeNotFound, "the embedder of this knowledge base is not being changed, and no old vectors are kept")
	case errors.Is(err, store.ErrConflict):
		p = newProblem(http.StatusConflict, CodeConflict, "%v", err)
	default:
		return err
	}
	p.cause = err
	return p
}

// reembedNotice is what to know after a PATCH with another embedder.
func reembedNotice(c store.EmbedderChange) string {
	return fmt.Sprintf("the vectors of %s are being made by %s; until they are all there, the old ones are searched", c.Embedder, c.ID)
}
