package api

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"ragagent/ingest"
	"ragagent/store"
)

func TestVerify(t *testing.T) {
	var failed error
	h := newHarness(t, func(c *Config) {
		c.Verify = func(_ context.Context, deleted bool) (ingest.Report, error) {
			r := ingest.Report{Documents: 3, Problems: []ingest.Problem{}}
			if deleted {
				r.Deleted = &ingest.DeletedReport{Documents: 2}
			}
			return r, failed
		}
	})
	const counted = `{"knowledge_bases":0,"documents":3,"chunks":0,"vectors":0,"blobs":0,`
	for body, want := range map[string]string{
		"":                  counted + `"problems":[]}`,
		`{}`:                counted + `"problems":[]}`,
		`{"deleted": true}`: counted + `"deleted":{"documents":2,"shared_blobs":0,"quoting_messages":0,"side_files":false},"problems":[]}`,
	} {
		if r := h.post("/api/v1/verify", body); r.status != 200 || r.body != want {
			t.Errorf("%q: %d %s, want %s", body, r.status, r.body, want)
		}
	}
	if r := h.post("/api/v1/verify", `{"deep": true}`); r.status != http.StatusBadRequest {
		t.Errorf("an unknown field: %d %s", r.status, r.body)
	}
	failed = fmt.Errorf("another verification is going on: %w", store.ErrInUse)
	if r := h.post("/api/v1/verify", ""); r.status/100 == 2 {
		t.Errorf("a second one at once: %d %s", r.status, r.body)
	}
}

func TestVerifyIsOptional(t *testing.T) {
	h := newHarness(t)
	h.wantProblem(h.post("/api/v1/verify", ""), Problem{Status: 404, Code: CodeNotFound, Detail: "this server does not verify"})
}
