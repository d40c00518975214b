package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"ragagent/ingest/fetch"
	"ragagent/store"
)

// refreshHold is for how long an address that is being fetched is nobody
// else's; a fetch that a kill has cut off is tried again then.
const refreshHold = 15 * time.Minute

// refreshOne fetches one URL that is due, if there is one.
func (s *Service) refreshOne(ctx context.Context) bool {
	a, mine, err := s.takeDue(ctx)
	if err != nil {
		s.logFetch(ctx, "no address could be taken", err)
		return false
	}
	s.nudgeFetch()
	if mine {
		s.refresh(ctx, a)
	}
	return true
}

// takeDue takes an address that is due; it is not mine if somebody is at it, who
// will see to it that it is done again.
func (s *Service) takeDue(ctx context.Context) (a store.Address, mine bool, err error) {
	s.refetches.Lock()
	defer s.refetches.Unlock()
	now := s.cfg.Now()
	if a, err = s.cfg.Records.DueAddress(ctx, now, now.Add(refreshHold)); err != nil {
		return a, false, err
	}
	key := refetched{a.KnowledgeBaseID, a.URL}
	_, busy := s.refetches.again[key]
	if s.refetches.again == nil {
		s.refetches.again = map[refetched]bool{}
	}
	s.refetches.again[key] = busy
	return a, !busy, nil
}

// refetches are the URLs that are being fetched again, each by one at a time: of
// two at once, the older content could be stored last. The zero value is ready.
type refetches struct {
	sync.Mutex                    // over what the records say of them, too
	again      map[refetched]bool // whether it was asked for meanwhile
}

type refetched struct{ kb, url string }

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
	put := s.endRefresh(context.WithoutCancel(ctx), a, change)
	if put != nil {
		s.logFetch(ctx, "the state of a URL was not recorded", put)
	}
	if err != nil {
		s.cfg.Log.Warn("a URL could not be fetched again", "document", a.DocumentID, "error", err)
	}
}

// endRefresh records how a fetch has changed its address, which is due at once if
// it was asked for meanwhile.
func (s *Service) endRefresh(ctx context.Context, a store.Address, change func(*store.Address)) error {
	s.refetches.Lock()
	defer s.refetches.Unlock()
	key := refetched{a.KnowledgeBaseID, a.URL}
	again := s.refetches.again[key]
	delete(s.refetches.again, key)
	_, err := s.cfg.Records.UpdateAddress(ctx, a.KnowledgeBaseID, a.URL, func(b *store.Address) {
		now := s.cfg.Now()
		again = again || !b.NextAt.IsZero() && !b.NextAt.After(now) // nobody took it: a hold lies ahead
		if change(b); again {
			b.NextAt = now
		}
	})
	return err
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
