package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var zebraVersion = regexp.MustCompile(`zebra in version (\d+)`)

// zebras is a text of several chunks, each of which names its version.
func zebras(version int) string {
	var b strings.Builder
	for i := range 6 {
		fmt.Fprintf(&b, "# Part %d\n\nThe zebra in version %d. %s\n\n", i, version, strings.Repeat("It grazes on the plain until the evening comes. ", 60))
	}
	return b.String()
}

// TestRevisionsAreSeenInOneStep searches while a document gets one revision after
// the other: every answer has all of one version, never two, never none.
func TestRevisionsAreSeenInOneStep(t *testing.T) {
	const versions = 12
	withApp(t, func(api *client) {
		if err := api.ensureKnowledgeBase(t.Context(), "kb"); err != nil {
			t.Fatal(err)
		}
		send := func(version int) {
			state, doc := ended(t, api, "zebra.md", []byte(zebras(version)))
			if state.Status != "ready" || doc.Revision != version {
				t.Fatalf("version %d: %+v %+v", version, state, doc)
			}
		}
		send(1)
		ctx, stop := context.WithCancel(t.Context())
		var searchers sync.WaitGroup
		for range 3 {
			searchers.Go(func() {
				for seen, questions := "", 0; ctx.Err() == nil; questions++ {
					got, n := versionOf(ctx, t, api)
					if ctx.Err() != nil {
						return
					}
					if n == 0 || len(got) < len(seen) || len(got) == len(seen) && got < seen {
						t.Errorf("question %d: %d chunks of version %q after version %q", questions, n, got, seen)
						return
					}
					seen = got
				}
			})
		}
		for version := 2; version <= versions; version++ {
			send(version)
			if got, n := versionOf(t.Context(), t, api); got != fmt.Sprint(version) || n < 6 {
				t.Errorf("version %d is ready, and %d chunks of %q are found", version, n, got)
			}
		}
		stop()
		searchers.Wait()
	})
}

// versionOf asks for zebras and returns which version was found, in how many
// chunks.
func versionOf(ctx context.Context, t *testing.T, api *client) (version string, chunks int) {
	var r retrieved
	err := api.post(ctx, "/api/v1/retrieve", map[string]any{"query": "zebra", "knowledge_bases": []string{"kb"}, "top_k": 50}, &r)
	if err != nil {
		if ctx.Err() == nil {
			t.Error(err)
		}
		return "", 0
	}
	for _, hit := range r.Hits {
		found := zebraVersion.FindStringSubmatch(hit.Text)
		if found == nil {
			continue
		}
		if version != "" && found[1] != version {
			t.Errorf("versions %s and %s at once", version, found[1])
		}
		version = found[1]
		chunks++
	}
	return version, chunks
}
