package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode"

	"github.com/labstack/echo/v4"

	"ragagent/ingest"
	"ragagent/store"
)

type textRequest struct {
	Name     string          `json:"name"`
	Path     string          `json:"path"`
	Origin   string          `json:"origin"`
	Title    string          `json:"title"`
	Text     *string         `json:"text"`
	MIME     string          `json:"mime"`
	URL      *string         `json:"url"`
	Refresh  string          `json:"refresh"` // of url
	Crawl    *crawlRequest   `json:"crawl"`   // from url
	Metadata json.RawMessage `json:"metadata"`
}

func (s *Server) addText(c echo.Context, kb store.KnowledgeBase) error {
	r := c.Request()
	leave, err := s.admitText(r)
	if err != nil {
		return err
	}
	defer leave()
	var in textRequest
	body, err := decodeJSON(r, min(s.cfg.MaxTextBytes, s.cfg.MaxFileBytes), &in)
	if err != nil {
		return err
	}
	if in.URL != nil {
		return s.addURL(c, kb, in, body)
	}
	upload, err := uploadOf(in)
	if err != nil {
		return err
	}
	return s.once(c, fingerprintOf(body), func() (int, any, error) {
		done, err := s.submit(r.Context(), kb, upload)
		return http.StatusAccepted, submittedListing{[]submittedAnswer{submittedOf(done)}}, err
	})
}

// admitText waits until there is room for a text that has to be held in
// memory, if it is large.
func (s *Server) admitText(r *http.Request) (leave func(), err error) {
	if r.ContentLength >= 0 && r.ContentLength <= s.cfg.MaxJSONBytes {
		return func() {}, nil
	}
	return s.texts.enter(r.Context())
}

func uploadOf(in textRequest) (ingest.Upload, error) {
	switch {
	case in.Refresh != "":
		return ingest.Upload{}, invalidField("refresh", "is for url: a text cannot be fetched again")
	case in.Crawl != nil:
		return ingest.Upload{}, invalidField("crawl", "is for url")
	case in.Text == nil:
		return ingest.Upload{}, invalidField("text", "is missing: send the document's text")
	}
	if in.Name == "" {
		return ingest.Upload{}, invalidField("name", "is missing: give the document a file name")
	}
	if err := checkTitle(in.Title); err != nil {
		return ingest.Upload{}, err
	}
	if in.MIME != "" && hintOf(in.MIME) == "" {
		return ingest.Upload{}, invalidField("mime", "is not a media type such as text/markdown")
	}
	if err := checkOrigin(in.Origin); err != nil {
		return ingest.Upload{}, err
	}
	up := ingest.Upload{Name: in.Name, Path: in.Path, Origin: in.Origin, Title: in.Title, MIME: hintOf(in.MIME), Body: strings.NewReader(*in.Text)}
	var err error
	up.Metadata, err = givenMetadata(in.Metadata)
	return up, err
}

func checkTitle(title string) error {
	if len(title) > maxTitle || strings.ContainsFunc(title, unicode.IsControl) {
		return invalidField("title", "must be one line of at most %d bytes", maxTitle)
	}
	return nil
}

// givenMetadata is nil where there is none.
func givenMetadata(raw json.RawMessage) (store.Metadata, error) {
	if raw == nil || string(raw) == "null" {
		return nil, nil
	}
	return metadataFrom(raw)
}
