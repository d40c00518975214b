package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/labstack/echo/v4"
)

// page is the web page. Files under assets/ carry a hash of their content in
// their name and may be kept for ever; everything else is asked for anew.
type page struct {
	files fs.FS
	index []byte // nil if there is none
}

func newPage(files fs.FS) (page, error) {
	if files == nil {
		return page{}, nil
	}
	index, err := fs.ReadFile(files, "index.html")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return page{}, fmt.Errorf("read the page: %w", err)
	}
	return page{files: files, index: index}, nil
}

// noPage is shown where the page was not built.
const noPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>ragagent</title>
<p>ragagent is running. This build has no web page in it: build it with <code>make build</code>, which needs Node.</p>
<p>The API is at <a href="/openapi.json">/openapi.json</a>.</p>
</html>
`

// reserved are the folders of programs: an unknown address in them is an error
// for a program to read, never the page.
var reserved = []string{"/api/", "/v1/", "/dify/", "/mcp/"}

// elsewhere answers addresses that are no route: with a file of the page, with
// index.html where the page itself may know the address, or with a 404. It is
// no route itself, which would turn every 405 into a 404.
func (s *Server) elsewhere(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		if !errors.Is(err, echo.ErrNotFound) {
			return err
		}
		r := c.Request()
		for _, folder := range reserved {
			if strings.HasPrefix(r.URL.Path+"/", folder) {
				return err
			}
		}
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			return s.page.serve(c)
		case http.MethodOptions:
			c.Response().Header().Set("Allow", "GET, HEAD, OPTIONS")
			return c.NoContent(http.StatusNoContent)
		}
		return err
	}
}

func (p page) serve(c echo.Context) error {
	name := strings.TrimPrefix(path.Clean("/"+c.Request().URL.Path), "/")
	if served, err := p.serveFile(c, name); served || err != nil {
		return err
	}
	// A missing file is a 404; an address without an extension is one of the
	// page's own views.
	if path.Ext(name) != "" && name != "index.html" {
		return echo.ErrNotFound
	}
	c.Response().Header().Set("Cache-Control", "no-cache")
	if p.index == nil {
		return c.HTML(http.StatusOK, noPage)
	}
	return c.HTMLBlob(http.StatusOK, p.index)
}

func (p page) serveFile(c echo.Context, name string) (served bool, err error) {
	if p.files == nil || name == "index.html" || "/"+name != c.Request().URL.Path || !fs.ValidPath(name) {
		return false, nil
	}
	info, err := fs.Stat(p.files, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("page file %s: %w", name, err)
	}
	caching := "no-cache"
	if strings.HasPrefix(name, "assets/") {
		caching = "public, max-age=31536000, immutable"
	}
	c.Response().Header().Set("Cache-Control", caching)
	http.ServeFileFS(c.Response(), c.Request(), p.files, name)
	return true, nil
}
