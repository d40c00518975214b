package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"ragagent/store"
)

// Pauses of changes that could not go on.
const (
	firstChangePause = time.Second
	maxChangePause   = time.Minute
)

// changer is what is known of the changes of embedders that are under way,
// beside the records.
type changer struct {
	wake chan struct{}

	mu      sync.Mutex
	behind  map[string]behind // knowledge bases whose second set may lack something
	waiting map[string]string // change -> why it does not go on
}

func newChanger() *changer {
	return &changer{wake: make(chan struct{}, 1), behind: map[string]behind{}, waiting: map[string]string{}}
}

// nudgeChanges says that documents of a knowledge base have other chunks, or,
// without any, that there is something to do for its change of embedder.
func (s *Service) nudgeChanges(kbID string, documents ...string) {
	s.changes.fellBehind(kbID, documents...)
	select {
	case s.changes.wake <- struct{}{}:
	default:
	}
}

func (c *changer) fellBehind(kbID string, documents ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.behind[kbID]
	b.add(documents)
	c.behind[kbID] = b
}

// take returns what has fallen behind, and leaves nothing.
func (c *changer) take() map[string]behind {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.behind
	c.behind = map[string]behind{}
	return taken
}

func (s *Service) changeWaits(id string) string {
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	return s.changes.waiting[id]
}

func (s *Service) setWaiting(id, why string) {
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	if why == "" {
		delete(s.changes.waiting, id)
	} else {
		s.changes.waiting[id] = why
	}
}

// changeEmbedders fills the second sets of vectors and removes those that were
// given up, one change after the other, until ctx ends. What a kill interrupts
// goes on at the next start: the records say what is missing.
func (s *Service) changeEmbedders(ctx context.Context) {
	pause := time.Duration(0)
	first := true
	for {
		waits := s.advanceChanges(ctx, first)
		if ctx.Err() != nil {
			return
		}
		first = false
		var again <-chan time.Time
		if waits {
			pause = min(max(2*pause, firstChangePause), maxChangePause)
			again = time.After(pause)
		} else {
			pause = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-s.changes.wake:
		case <-again:
		}
	}
}

// advanceChanges brings every change as far as it goes; all says to look at those
// too of which nobody has said that there is something to do. It returns whether
// one waits.
func (s *Service) advanceChanges(ctx context.Context, all bool) (waits bool) {
	// Before the changes are read: one that begins later says so itself.
	taken := s.changes.take()
	changes, err := s.cfg.Records.EmbedderChanges(ctx)
	if err != nil {
		for kbID := range taken {
			s.changes.fellBehind(kbID)
		}
		if ctx.Err() == nil {
			s.cfg.Log.Error("changes of embedders are not looked after", "error", err)
		}
		return true
	}
	for _, c := range changes {
		b, fell := taken[c.KnowledgeBaseID]
		b.all = b.all || all
		if !fell && !all && c.State != store.ChangeDiscarding {
			continue
		}
		err := s.advance(ctx, c, b)
		if ctx.Err() != nil {
			return false
		}
		if s.settleChange(ctx, c, err) {
			waits = true
			s.changes.fellBehind(c.KnowledgeBaseID)
		}
	}
	return waits
}

// advance does what a change in its state needs.
func (s *Service) advance(ctx context.Context, c store.EmbedderChange, b behind) error {
	switch c.State {
	case store.ChangeDiscarding:
		return s.cfg.Records.ClearVectors(ctx, c.ID)
	case store.ChangeFilling:
		return s.makeReady(ctx, c)
	case store.ChangeReady, store.ChangeSwitched:
		if b.all {
			return s.fill(ctx, c, nil)
		}
		return s.fill(ctx, c, nil, slices.Collect(maps.Keys(b.documents))...)
	}
	return nil
}

// settleChange writes down how an attempt went, and says whether there is to be
// another.
func (s *Service) settleChange(ctx context.Context, c store.EmbedderChange, err error) (again bool) {
	switch {
	case err == nil, errors.Is(err, store.ErrNotFound): // it is gone, with its knowledge base
		s.setWaiting(c.ID, "")
		return false
	case errors.Is(err, store.ErrUnavailable), store.IsFull(err):
		s.setWaiting(c.ID, "goes on by itself when it can: "+err.Error())
		return true
	case errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrOtherEmbedder):
		return false // discarded meanwhile: that has woken us
	case c.State != store.ChangeFilling:
		s.setWaiting(c.ID, err.Error())
		s.cfg.Log.Error("vectors of another embedder do not follow", "change", c.ID, "state", c.State, "error", err)
		return true
	}
	s.cfg.Log.Warn("change of embedder failed", "change", c.ID, "error", err)
	failed, recorded := s.cfg.Records.UpdateEmbedderChange(ctx, c.ID, func(c *store.EmbedderChange) error {
		if c.State == store.ChangeFilling {
			c.State, c.Error = store.ChangeFailed, err.Error()
		}
		return nil
	})
	if recorded == nil {
		s.watch.publish(failed.Job())
	}
	return false
}

// makeReady fills a new set, compares it if that is wanted, and switches to it if
// that is.
func (s *Service) makeReady(ctx context.Context, c store.EmbedderChange) error {
	began, from := s.cfg.Now(), c.Done
	err := s.fill(ctx, c, func(done, total int) {
		s.setWaiting(c.ID, "")
		job := c.Job()
		job.Progress = store.Progress{Stage: store.StageEmbed, Done: done, Total: total, Since: began, From: from}
		job.UpdatedAt = s.cfg.Now()
		s.watch.publish(job)
	})
	if err != nil {
		return err
	}
	comparison, failed := s.compare(ctx, c)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	missing, total, err := s.cfg.Records.CountMissing(ctx, c.ID)
	if err != nil {
		return err
	}
	c, err = s.cfg.Records.UpdateEmbedderChange(ctx, c.ID, func(c *store.EmbedderChange) error {
		if c.State != store.ChangeFilling {
			return fmt.Errorf("%w: it is %s", store.ErrConflict, c.State)
		}
		c.State, c.Comparison, c.Done, c.Total = store.ChangeReady, comparison, total-missing, total
		if failed != nil {
			c.Error = "not compared: " + failed.Error()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.Auto && failed == nil {
		if err := s.switchTo(ctx, c); err != nil {
			_, _ = s.cfg.Records.UpdateEmbedderChange(ctx, c.ID, func(c *store.EmbedderChange) error {
				c.Error = "not switched: " + err.Error()
				return nil
			})
			s.cfg.Log.Warn("embedder not switched: it waits to be told to", "change", c.ID, "error", err)
		}
	}
	s.watch.publish(c.Job())
	return nil
}

// compare asks the same questions with both sets; nil if nobody wants to know.
func (s *Service) compare(ctx context.Context, c store.EmbedderChange) (*store.Comparison, error) {
	if !c.Compare || s.cfg.Compare == nil {
		return nil, nil
	}
	kb, err := s.cfg.Records.KnowledgeBase(ctx, c.KnowledgeBaseID)
	if err != nil {
		return nil, err
	}
	questions := c.Questions
	if len(questions) == 0 {
		if questions, err = s.draftQuestions(ctx, kb.ID); err != nil {
			return nil, err
		}
	}
	shadow, ok := s.cfg.Indexer.(Shadower)
	if !ok {
		return nil, errors.New("the search index holds one set of vectors only")
	}
	then := kb
	then.Embedder, then.Fingerprint, then.Dimension = c.Embedder, c.Fingerprint, c.Dimension
	err = shadow.LoadShadow(ctx, then, s.cfg.Records.ChangeVectors(ctx, c.ID))
	defer func() { _ = shadow.DropShadow(context.WithoutCancel(ctx), kb.ID) }() // it takes memory, no more
	if err != nil {
		return nil, err
	}
	comparison, err := s.cfg.Compare(ctx, kb, then, questions)
	if err != nil {
		return nil, err
	}
	return &comparison, nil
}

// draftQuestions takes what chunks from all over a knowledge base begin with, or
// what they are headed by, for what somebody might ask.
func (s *Service) draftQuestions(ctx context.Context, kbID string) ([]store.JudgedQuestion, error) {
	chunks, err := s.cfg.Records.SampleChunks(ctx, kbID, draftedQuestions)
	if err != nil {
		return nil, err
	}
	var questions []store.JudgedQuestion
	for i, c := range chunks {
		text := beginning(c.Text)
		if n := len(c.Headings); n > 0 && i%2 == 0 {
			text = beginning(strings.Join(c.Headings[max(0, n-2):], " "))
		}
		if text != "" {
			questions = append(questions, store.JudgedQuestion{Text: text})
		}
	}
	return questions, nil
}

// beginning is the first sentence of a text, of at most 12 words.
func beginning(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		if i == 11 || strings.HasSuffix(w, ".") || strings.HasSuffix(w, "?") || strings.HasSuffix(w, "!") {
			words = words[:i+1]
			break
		}
	}
	text = strings.Join(words, " ")
	return strings.ToValidUTF8(text[:min(len(text), 500)], "")
}
