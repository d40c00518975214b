package api

import (
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"
)

// health says that the process answers; it asks nothing else.
func (s *Server) health(c echo.Context) error {
	return reply(c, http.StatusOK, struct {
		Status string `json:"status"`
	}{"ok"})
}

// ready says whether questions are answered: 200 or 503 with the progress.
func (s *Server) ready(c echo.Context) error {
	state, status := s.cfg.Ready(), http.StatusOK
	if s.stopping.Err() != nil {
		state.Ready, state.Detail = false, errStopping.Error()
	}
	if !state.Ready {
		status = http.StatusServiceUnavailable
		c.Response().Header().Set("Retry-After", "1")
	}
	return reply(c, status, state)
}

//go:embed openapi.json
var openAPI []byte

func (s *Server) serveOpenAPI(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-cache")
	return c.Blob(http.StatusOK, "application/json", openAPI)
}
