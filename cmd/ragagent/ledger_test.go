package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ledger is what clients know of the documents they sent and deleted, across
// kills of the server: what was acknowledged, and what was only begun.
type ledger struct {
	mu      sync.Mutex
	next    int
	there   map[string]bool // document -> false once its deletion was begun
	number  map[string]int  // document -> the number its text has
	gone    []string        // documents whose deletion was acknowledged
	bases   map[string]bool // as there, for knowledge bases
	dropped []string        // knowledge bases whose deletion was acknowledged

	versions *versions
}

func newLedger() *ledger {
	return &ledger{there: map[string]bool{}, number: map[string]int{}, bases: map[string]bool{}, versions: newVersions()}
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return l.next
}

// churn uploads until ctx ends, and deletes every second document again.
func (l *ledger) churn(ctx context.Context, api *client) {
	for ctx.Err() == nil {
		n := l.count()
		text := killText(n)
		if n%10 == 0 {
			text += largeText(n) // some hundred chunks, in more than one batch
		}
		doc, err := api.upload(ctx, "kb", fmt.Sprintf("%d.md", n), strings.NewReader(text))
		if err != nil {
			continue
		}
		l.mu.Lock()
		l.there[doc.ID], l.number[doc.ID] = true, n
		l.mu.Unlock()
		if n%2 == 1 {
			l.remove(ctx, api, doc.ID)
		}
	}
}

func (l *ledger) remove(ctx context.Context, api *client, id string) {
	l.mu.Lock()
	l.there[id] = false
	l.mu.Unlock()
	if err := api.do(ctx, http.MethodDelete, "/api/v1/knowledge-bases/kb/documents/"+id, nil, "", nil); err != nil {
		return
	}
	l.mu.Lock()
	l.gone = append(l.gone, id)
	l.mu.Unlock()
}

// churnBases makes knowledge bases with a document, and deletes every second.
func (l *ledger) churnBases(ctx context.Context, api *client) {
	for ctx.Err() == nil {
		n := l.count()
		name := fmt.Sprintf("base-%d", n)
		if err := api.post(ctx, "/api/v1/knowledge-bases", map[string]string{"name": name}, nil); err != nil {
			continue
		}
		l.mu.Lock()
		l.bases[name] = true
		l.mu.Unlock()
		_, _ = api.upload(ctx, name, "a.md", strings.NewReader(killText(n))) // what happens to it is not followed
		if n%2 == 0 {
			continue
		}
		l.mu.Lock()
		l.bases[name] = false
		l.mu.Unlock()
		if err := api.do(ctx, http.MethodDelete, "/api/v1/knowledge-bases/"+name, nil, "", nil); err == nil {
			l.mu.Lock()
			l.dropped = append(l.dropped, name)
			l.mu.Unlock()
		}
	}
}

// now is which documents are there, and which are gone, for certain.
func (l *ledger) now() (there, gone []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return certain(l.there), slices.Clone(l.gone)
}

func certain(is map[string]bool) (all []string) {
	for id, there := range is {
		if there {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

// isGone says whether a deletion was begun.
func (l *ledger) isGone(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.there[id]
}

// wait waits until n documents were sent.
func (l *ledger) wait(t *testing.T, n int) {
	t.Helper()
	eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.there) >= n
	})
}

// check compares what a server has with what it acknowledged. Nobody writes.
func (l *ledger) check(t *testing.T, api *client) {
	t.Helper()
	ids := map[string]bool{}
	for _, id := range waitReady(t, api) {
		ids[id] = true
	}
	there, gone := l.now()
	for _, id := range there {
		if !ids[id] {
			t.Errorf("%s was acknowledged and is lost", id)
		}
	}
	for _, id := range gone {
		if ids[id] {
			t.Errorf("%s was deleted and is back", id)
		}
	}
	for _, id := range last(there, 5) {
		if !l.found(t, api, id) {
			t.Errorf("%s is there and is not found", id)
		}
	}
	for _, id := range last(gone, 5) {
		if l.found(t, api, id) {
			t.Errorf("%s was deleted and is found", id)
		}
	}
	for _, name := range certain(l.bases) {
		if err := api.get(t.Context(), "/api/v1/knowledge-bases/"+name, nil); err != nil {
			t.Errorf("knowledge base %s: %v", name, err)
		}
	}
	for _, name := range l.dropped {
		if err := api.get(t.Context(), "/api/v1/knowledge-bases/"+name, nil); !isStatus(err, http.StatusNotFound) {
			t.Errorf("knowledge base %s was deleted: %v", name, err)
		}
	}
}

func last(ids []string, n int) []string { return ids[max(0, len(ids)-n):] }

// found searches for the word that only this document has.
func (l *ledger) found(t *testing.T, api *client, id string) bool {
	t.Helper()
	var r struct {
		Hits []struct {
			DocumentID string `json:"document_id"`
		} `json:"hits"`
	}
	err := api.post(t.Context(), "/api/v1/retrieve", map[string]any{
		"query": fmt.Sprintf("code%dx", l.number[id]), "knowledge_bases": []string{"kb"}, "top_k": 3,
	}, &r)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Hits {
		if h.DocumentID == id {
			return true
		}
	}
	return false
}
