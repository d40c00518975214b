package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// verifyRequest says what to look for.
type verifyRequest struct {
	// Deleted looks for what is left of deleted documents instead.
	Deleted bool `json:"deleted"`
}

// verify compares everything with everything while the server goes on, one
// request at a time, and ends with its client. The answer comes when all has
// been compared; what was found is no error.
func (s *Server) verify(c echo.Context) error {
	if s.cfg.Verify == nil {
		return newProblem(http.StatusNotFound, CodeNotFound, "this server does not verify")
	}
	var in verifyRequest
	if c.Request().ContentLength != 0 {
		if _, err := decodeJSON(c.Request(), s.cfg.MaxJSONBytes, &in); err != nil {
			return err
		}
	}
	report, err := s.cfg.Verify(c.Request().Context(), in.Deleted)
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, report)
}
