package api

import (
	"context"
	"net/http"
	"testing"
	"time"

	"ragagent/ingest"
	"ragagent/store"
)

// noAddresses fails the test when a URL gets through to it.
type noAddresses struct{ testing.TB }

func (a noAddresses) SubmitURL(_ context.Context, _ string, order ingest.URLOrder) (ingest.Submitted, error) {
	a.Errorf("%s was accepted", order.URL)
	return ingest.Submitted{}, store.ErrConflict
}

func (noAddresses) Refresh(context.Context, string, string) (store.Address, error) {
	return store.Address{}, store.ErrNotFound
}

func (noAddresses) SetRefresh(context.Context, string, string, time.Duration) (store.Address, error) {
	return store.Address{}, store.ErrNotFound
}

func TestWhatMayNotStandBesideAURL(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.Addresses = noAddresses{t} })
	h.knowledgeBase("kb_1", "Filings")
	for field, detail := range map[string]string{
		"text":   "stands beside url: send one of them",
		"name":   "comes from the URL: leave it out",
		"mime":   "comes with the page: leave it out",
		"path":   "is the URL: leave it out",
		"origin": "is that of URLs: leave it out",
	} {
		h.wantProblem(h.post(documentsPath, `{"url":"https://example.org","`+field+`":"x"}`), Problem{
			Status: http.StatusBadRequest, Code: CodeInvalid, Detail: field + ": " + detail,
			Errors: []ProblemField{{field, detail}},
		})
	}
}
