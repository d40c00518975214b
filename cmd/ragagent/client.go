package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
)

// client speaks the API of API documentation, to a server elsewhere or to one
// in this process.
type client struct {
	http *http.Client
	base string // without a trailing slash
}

// problem is an application/problem+json answer.
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Code   string `json:"code"`
}

func (p *problem) Error() string {
	if p.Detail != "" {
		return p.Detail
	}
	return fmt.Sprintf("%s (%d)", p.Title, p.Status)
}

func isStatus(err error, status int) bool {
	var p *problem
	return errors.As(err, &p) && p.Status == status
}

// do sends a request and decodes the answer into out, if it is not nil.
func (c *client) do(ctx context.Context, method, path string, body io.Reader, contentType string, out any) error {
	resp, err := c.send(ctx, method, path, body, contentType, "application/json")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("%s %s: read the answer: %w", method, path, err)
	}
	return nil
}

// send returns a response of status 2xx; every other one is an error.
func (c *client) send(ctx context.Context, method, path string, body io.Reader, contentType, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("Accept", accept)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	p := problem{Title: resp.Status, Status: resp.StatusCode}
	if raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10)); err == nil {
		_ = json.Unmarshal(raw, &p) // whatever is missing stays as above
	}
	p.Status = resp.StatusCode
	return nil, &p
}

func (c *client) get(ctx context.Context, path string, out any) error {
	return c.do(ctx, http.MethodGet, path, nil, "", out)
}

func (c *client) post(ctx context.Context, path string, in, out any) error {
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPost, path, bytes.NewReader(raw), "application/json", out)
}

// ensureKnowledgeBase makes the knowledge base if it is not there.
func (c *client) ensureKnowledgeBase(ctx context.Context, name string) error {
	err := c.get(ctx, "/api/v1/knowledge-bases/"+url.PathEscape(name), nil)
	if !isStatus(err, http.StatusNotFound) {
		return err
	}
	err = c.post(ctx, "/api/v1/knowledge-bases", map[string]string{"name": name}, nil)
	if isStatus(err, http.StatusConflict) { // somebody else was faster
		return nil
	}
	return err
}

// submitted is one accepted upload.
type submitted struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Status      string `json:"status"`
	JobID       string `json:"job_id"`
	DuplicateOf string `json:"duplicate_of"`
	Path        string `json:"path"`
	Revision    int    `json:"revision"`
	Error       string `json:"error"` // why it was not taken; ID is "" then
}

// upload streams one file that is no archive.
func (c *client) upload(ctx context.Context, kb, name string, file io.Reader) (submitted, error) {
	docs, err := c.uploadAs(ctx, kb, name, upload{}, file)
	if err != nil {
		return submitted{}, err
	}
	if len(docs) != 1 {
		return submitted{}, fmt.Errorf("the server answered with %d documents for one file", len(docs))
	}
	return docs[0], nil
}

// uploadAs streams one file from a source, whose path may be "": the name. Of an
// archive, what is in it comes back.
func (c *client) uploadAs(ctx context.Context, kb, name string, as upload, file io.Reader) ([]submitted, error) {
	pr, pw := io.Pipe()
	form := multipart.NewWriter(pw)
	go func() {
		var err error
		if as.path != "" {
			err = form.WriteField("path", as.path)
		}
		if err == nil && as.origin != "" {
			err = form.WriteField("origin", as.origin)
		}
		if err == nil {
			var part io.Writer
			if part, err = form.CreateFormFile("file", name); err == nil {
				_, err = io.Copy(part, file)
			}
		}
		if err == nil {
			err = form.Close()
		}
		pw.CloseWithError(err)
	}()
	defer func() { _ = pr.Close() }() // ends the writer if the request ended first
	var out struct {
		Documents []submitted `json:"documents"`
	}
	err := c.do(ctx, http.MethodPost, "/api/v1/knowledge-bases/"+url.PathEscape(kb)+"/documents", pr, form.FormDataContentType(), &out)
	if err != nil {
		return nil, err
	}
	return out.Documents, nil
}

// jobState is a job as the API shows it.
type jobState struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Stage  string `json:"stage"`
	Done   int    `json:"done"`
	Total  int    `json:"total"`
	Error  string `json:"error"`
	// ETAMS is nil while nobody can tell.
	ETAMS   *int64 `json:"eta_ms"`
	Waiting string `json:"waiting"`
}

func (j jobState) ended() bool {
	return j.Status == "ready" || j.Status == "failed" || j.Status == "cancelled"
}

// event is one server-sent event.
type event struct {
	name string
	data []byte
}

// events calls each for every event of a stream until it ends or each fails.
func events(r io.Reader, each func(event) error) error {
	var e event
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), 64<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "":
			if e.data != nil {
				if err := each(e); err != nil {
					return err
				}
			}
			e = event{}
		case strings.HasPrefix(line, "event:"):
			e.name = strings.TrimSpace(line[len("event:"):])
		case strings.HasPrefix(line, "data:"):
			if e.data != nil {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, strings.TrimPrefix(line[len("data:"):], " ")...)
		}
	}
	return lines.Err()
}
