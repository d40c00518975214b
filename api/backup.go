package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// backup streams a backup. What fails before its first byte is a problem
// document; after that the connection is broken, and the reader misses the
// manifest, which comes last.
func (s *Server) backup(c echo.Context) error {
	if s.cfg.Backup == nil {
		return newProblem(http.StatusNotFound, CodeNotFound, "this server writes no backups")
	}
	h := c.Response().Header()
	h.Set("Content-Type", "application/x-tar")
	h.Set("Content-Disposition", contentDisposition("attachment", "ragagent-"+s.cfg.Now().UTC().Format("20060102-150405")+".backup"))
	h.Set("Cache-Control", "no-store")
	return s.cfg.Backup(c.Request().Context(), c.Response())
}
