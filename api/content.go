package api

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"ragagent/store"
)

// originalPolicy is the content security policy of uploaded files: whatever a
// browser makes of them, they get no script and not our origin.
const originalPolicy = "default-src 'none'; sandbox"

// inlineTypes may be shown by the browser itself when asked for: none of them
// runs script in the origin of its page. Browsers show no PDF in a sandbox.
var inlineTypes = map[string]string{
	"application/pdf": "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'",
	"image/gif":       originalPolicy,
	"image/jpeg":      originalPolicy,
	"image/png":       originalPolicy,
	"image/webp":      originalPolicy,
	"text/plain":      originalPolicy,
}

// getContent sends the original, as a download unless disposition=inline asks
// for one of inlineTypes to be shown. Ranges and conditional requests work.
func (s *Server) getContent(c echo.Context) error {
	doc, err := s.document(c)
	if err != nil {
		return err
	}
	mediaType, params, err := mime.ParseMediaType(doc.MIME)
	if err != nil {
		mediaType, params = "application/octet-stream", nil
	}
	disposition, policy := "attachment", originalPolicy
	if p, safe := inlineTypes[mediaType]; safe && c.QueryParam("disposition") == "inline" {
		disposition, policy = "inline", p
	}
	h := c.Response().Header()
	h.Set("Content-Type", mime.FormatMediaType(mediaType, params))
	h.Set("Content-Disposition", contentDisposition(disposition, doc.Name))
	h.Set("Content-Security-Policy", policy)
	return s.sendBlob(c, doc.SHA256)
}

// contentDisposition names the file; a name that cannot be written is left out.
func contentDisposition(disposition, name string) string {
	if full := mime.FormatMediaType(disposition, map[string]string{"filename": name}); full != "" {
		return full
	}
	return disposition
}

// getText sends the normalised text that all spans count bytes of: a span is
// the range request "bytes=START-(END-1)".
func (s *Server) getText(c echo.Context) error {
	doc, err := s.document(c)
	if err != nil {
		return err
	}
	if doc.TextSHA256 == "" {
		return newProblem(http.StatusNotFound, CodeNotFound, "document %q has no text: it is %s", doc.ID, doc.Status)
	}
	h := c.Response().Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Security-Policy", originalPolicy)
	return s.sendBlob(c, doc.TextSHA256)
}

func (s *Server) sendBlob(c echo.Context, hash string) error {
	ctx := c.Request().Context()
	blob, err := s.cfg.Blobs.Open(ctx, hash)
	if errors.Is(err, store.ErrNotFound) && ctx.Err() == nil {
		// Deleted since its record was read; or lost, which verify tells.
		return missing(err, "content", hash)
	}
	if err != nil {
		return err
	}
	defer blob.Close()
	h := c.Response().Header()
	h.Set("Etag", `"`+hash+`"`)
	h.Set("Cache-Control", "private, no-cache")
	w := &refusals{ResponseWriter: c.Response()}
	http.ServeContent(w, c.Request(), "", time.Time{}, &interruptible{Blob: blob, ctx: ctx})
	if w.status != 0 {
		return newProblem(w.status, CodeInvalid, "the range asked for is not in these %d bytes", blob.Size())
	}
	return nil
}

// refusals keeps http.ServeContent's plain-text errors back: they become
// problem documents.
type refusals struct {
	http.ResponseWriter
	status int
}

func (w *refusals) WriteHeader(status int) {
	if status >= 400 {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *refusals) Write(p []byte) (int, error) {
	if w.status != 0 {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// interruptible ends a transfer when its request ends.
type interruptible struct {
	store.Blob
	ctx context.Context
}

func (b *interruptible) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.Blob.Read(p)
}
