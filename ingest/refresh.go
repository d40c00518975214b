package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ragagent/ingest/fetch"
	"ragagent/store"
)

// refreshHold is for how long an address that is being fetched is nobody
// else's; a fetch that a kill has cut off is tried again then.
const refreshHold = 15 * time.Minute

// refreshOne fetches one URL that is due, if there is one.
func (s *Service) refreshOne(ctx context.Context) bool {
	now := s.cfg.Now()
	a, err := s.cfg.Records.DueAddress(ctx, now, now.Add(refreshHold))
	if err != nil {
		s.logFetch(ctx, "no address could be taken", err)
		return false
	}
	s.nudgeFetch()
	s.refresh(ctx, a)
	return true
}

// refresh asks for a URL again and lets its document follow.
func (s *Service) refresh(ctx context.Context, a store.Address) {
	resp, err := s.cfg.Fetcher.Fetch(ctx, fetch.Request{URL: a.URL, ETag: tagOf(a), LastModified: a.LastModified})
	change := func(b *store.Address) { *b = s.failedNow(*b, err) }
	if err == nil {
		defer resp.Body.Close()
		change, err = s.refreshed(ctx, a, resp)
	}
	if ctx.Err() != nil { // the next start does it
		change = func(b *store.Address) { b.NextAt = s.cfg.Now() }
	}
	_, put := s.cfg.Records.UpdateAddress(context.WithoutCancel(ctx), a.KnowledgeBaseID, a.URL, func(b *store.Address) {
		asked := b.NextAt
		change(b)
		if !asked.IsZero() && !asked.After(s.cfg.Now()) { // for since: the hold of this fetch lies ahead
			b.NextAt = asked
		}
	})
	if put != nil {
		s.logFetch(ctx, "the state of a URL was not recorded", put)
	}
	if err != nil {
		s.cfg.Log.Warn("a URL could not be fetched again", "document", a.DocumentID, "error", err)
	}
}

// refreshed takes what a fetch brought, and returns how the address changes.
func (s *Service) refreshed(ctx context.Context, a store.Address, resp *fetch.Response) (func(*store.Address), error) {
	well := func(b *store.Address) { *b = s.fetchedNow(*b, resp) }
	if resp.NotModified {
		return well, nil
	}
	body := &download{from: resp.Body}
	content, err := s.sniff(ctx, body)
	defer content.close()
	content.tag(resp)
	left := "" // of an archive
	switch {
	case err != nil:
	case content.archive && resp.ETag == a.ETag: // unchanged, though its server does not say so by itself
		return well, nil
	case content.archive:
		left, err = s.refreshArchive(ctx, a, resp, content)
	default:
		up := fromURL(Upload{Name: resp.Name, MIME: resp.ContentType, Body: content}, a.URL)
		_, err = s.submitAs(ctx, a.KnowledgeBaseID, up, arrival{kind: store.JobIngest, again: a.URL})
	}
	if body.err != nil {
		err = fmt.Errorf("fetch %s: %w", a.URL, body.err)
	}
	if errors.Is(err, store.ErrNotFound) {
		return well, nil // deleted while it was fetched, and its address with it
	}
	if err != nil {
		return func(b *store.Address) { *b = s.failedNow(*b, err) }, err
	}
	return func(b *store.Address) {
		well(b)
		b.Error = strings.TrimPrefix(left, ": ")
	}, nil
}

// failedNow is an address after a fetch that failed. The document stays: it is
// what the page was.
func (s *Service) failedNow(a store.Address, err error) store.Address {
	now := s.cfg.Now()
	a.Failures++
	a.Error = err.Error()
	a.NextAt = s.nextFetch(now, a.Refresh)
	switch {
	case errors.Is(err, fetch.ErrGone):
		if a.GoneSince.IsZero() {
			a.GoneSince = now
		}
	case fetch.Temporary(err) && a.Failures < maxFetches:
		soon := now.Add(s.backOff(a.Failures, err))
		if a.NextAt.IsZero() || soon.Before(a.NextAt) {
			a.NextAt = soon
		}
	}
	return a
}
