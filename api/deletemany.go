package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"ragagent/ingest"
)

// maxDeleteBody bounds the body of deleteDocuments, in bytes: the ids it may
// hold with room to spare.
const maxDeleteBody = ingest.MaxDelete * 64

// deleteDocuments deletes many at once, in seconds for thousands.
func (s *Server) deleteDocuments(c echo.Context) error {
	kb, err := s.knowledgeBase(c)
	if err != nil {
		return err
	}
	var body struct {
		IDs []string `json:"ids"`
	}
	if _, err := decodeJSON(c.Request(), maxDeleteBody, &body); err != nil {
		return err
	}
	deleted, err := s.cfg.Ingest.DeleteDocuments(c.Request().Context(), kb.ID, body.IDs)
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, struct {
		Deleted int      `json:"deleted"`
		Missing []string `json:"missing"`
	}{deleted.Documents, append([]string{}, deleted.Missing...)})
}
