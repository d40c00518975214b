package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

type reindexAnswer struct {
	submittedListing
	Skipped int `json:"skipped"`
}

// reindex has every document of a knowledge base read, cut and embedded again.
func (s *Server) reindex(c echo.Context) error {
	kb, err := s.knowledgeBase(c)
	if err != nil {
		return err
	}
	return s.once(c, fingerprintOf(nil), func() (int, any, error) {
		begun, err := s.cfg.Ingest.ReindexKnowledgeBase(c.Request().Context(), kb.ID)
		out := reindexAnswer{submittedListing{make([]submittedAnswer, len(begun.Queued))}, begun.Skipped}
		for i, one := range begun.Queued {
			out.Documents[i] = submittedOf(one)
		}
		return http.StatusAccepted, out, missing(err, "knowledge base", kb.Name)
	})
}
