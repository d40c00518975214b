package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// versions is what a client knows of files that it changes again and again, and
// now and then removes, across kills of the server.
type versions struct {
	mu    sync.Mutex
	files map[string]*versioned // by path
}

// versioned is one file. A version is the number that its text has; 0 stands for
// no file.
type versioned struct {
	document string
	possible []int // the one acknowledged last, and those begun since
	gone     []int // that were acknowledged before
}

const (
	versionedFiles = 5
	killOrigin     = "sync:kill"
)

func newVersions() *versions { return &versions{files: map[string]*versioned{}} }

func (v *versions) file(path string) *versioned {
	if v.files[path] == nil {
		v.files[path] = &versioned{possible: []int{0}}
	}
	return v.files[path]
}

func (v *versions) begin(path string, version int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.file(path)
	f.possible = append(f.possible, version)
}

func (v *versions) acknowledge(path string, version int, document string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.file(path)
	for _, was := range f.possible {
		if was != version && was != 0 {
			f.gone = append(f.gone, was)
		}
	}
	f.possible, f.document = []int{version}, document
}

// versionText has some hundred chunks at times.
func versionText(n int) string {
	if n%10 == 0 {
		return killText(n) + largeText(n)
	}
	return killText(n)
}

// churn changes files until ctx ends. One goroutine does: what it begins after
// another thing comes after it.
func (v *versions) churn(ctx context.Context, api *client, count func() int) {
	for ctx.Err() == nil {
		n := count()
		path := fmt.Sprintf("kill/version-%d.md", n%versionedFiles)
		v.mu.Lock()
		document := v.file(path).document
		v.mu.Unlock()
		if n%11 == 0 && document != "" {
			v.begin(path, 0)
			err := api.do(ctx, http.MethodDelete, "/api/v1/knowledge-bases/kb/documents/"+document+"?"+
				url.Values{"origin": {killOrigin}, "path": {path}}.Encode(), nil, "", nil)
			if err == nil || isStatus(err, http.StatusNotFound) { // it may have been done before a kill
				v.acknowledge(path, 0, "")
			}
			continue
		}
		v.begin(path, n)
		docs, err := api.uploadAs(ctx, "kb", fmt.Sprintf("version-%d.md", n%versionedFiles), upload{path: path, origin: killOrigin}, strings.NewReader(versionText(n)))
		if err == nil && len(docs) == 1 {
			v.acknowledge(path, n, docs[0].ID)
		}
	}
}

// check compares what a server has with what it acknowledged. Nobody writes, and
// no job is left.
func (v *versions) check(t *testing.T, api *client) {
	t.Helper()
	s := folderSync{api: api, kb: "kb", origin: killOrigin}
	there, err := s.sources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for path, f := range v.files {
		at := slices.IndexFunc(f.possible, func(n int) bool {
			return n != 0 && there[path].SHA256 == fmt.Sprintf("%x", sha256.Sum256([]byte(versionText(n))))
		})
		if at < 0 {
			if there[path].SHA256 != "" || !slices.Contains(f.possible, 0) {
				t.Errorf("%s has none of the versions %v: %+v", path, f.possible, there[path])
			}
			continue
		}
		if got := holding(t, api, f.possible[at]); !slices.Equal(got, []string{there[path].DocumentID}) {
			t.Errorf("%s, version %d, is found in %v, want %s", path, f.possible[at], got, there[path].DocumentID)
		}
		for _, old := range f.gone[max(0, len(f.gone)-3):] {
			if got := holding(t, api, old); len(got) > 0 {
				t.Errorf("%s, version %d, was replaced and is found in %v", path, old, got)
			}
		}
	}
}

// holding are the documents that hold the word which only this number's text has.
func holding(t *testing.T, api *client, n int) (documents []string) {
	t.Helper()
	var r struct {
		Hits []struct {
			DocumentID string `json:"document_id"`
			Text       string `json:"text"`
		} `json:"hits"`
	}
	word := fmt.Sprintf("code%dx", n)
	err := api.post(t.Context(), "/api/v1/retrieve", map[string]any{"query": word, "knowledge_bases": []string{"kb"}, "top_k": 20}, &r)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Hits {
		if strings.Contains(h.Text, word) && !slices.Contains(documents, h.DocumentID) {
			documents = append(documents, h.DocumentID)
		}
	}
	return documents
}
