package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"ragagent/store"
)

// Shadower is implemented by indexers that can hold a second set of vectors of
// a knowledge base; retrieval.Index does.
type Shadower interface {
	// LoadShadow loads the set that kb names, beside the one that is searched.
	LoadShadow(ctx context.Context, kb store.KnowledgeBase, vectors iter.Seq2[store.VectorEntry, error]) error
	DropShadow(ctx context.Context, kbID string) error
	// Switch searches the set that kb names from now on.
	Switch(ctx context.Context, kb store.KnowledgeBase) error
}

// EmbedderRequest asks for another embedder of a knowledge base.
type EmbedderRequest struct {
	Embedder string // "provider/name"
	Auto     bool   // switch as soon as all vectors are there
	Compare  bool   // compare the answers before that
	// Questions are asked for the comparison; none: some drafted from the chunks.
	Questions []store.JudgedQuestion
}

// Bounds of a comparison.
const (
	maxQuestions     = 1000
	draftedQuestions = 50
	maxQuestionBytes = 4 << 10
)

// ChangeEmbedder begins to make the vectors of another embedder, beside those
// that are searched meanwhile. store.ErrNotFound, store.ErrInvalid,
// store.ErrConflict if a change is under way, store.ErrUnavailable if the
// embedder does not answer, *QuarantineError.
func (s *Service) ChangeEmbedder(ctx context.Context, idOrName string, req EmbedderRequest) (store.EmbedderChange, error) {
	var c store.EmbedderChange
	if _, ok := s.cfg.Indexer.(Shadower); !ok {
		return c, store.Invalid("embedder", "cannot be changed: the search index holds one set of vectors only")
	}
	if err := validQuestions(req.Questions); err != nil {
		return c, err
	}
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return c, err
	}
	if err := s.Quarantined(kb.ID); err != nil {
		return c, err
	}
	if req.Embedder == "" {
		return c, store.Invalid("embedder", "is missing: say which embedder the knowledge base is to get")
	}
	e, err := s.embedder(ctx, req.Embedder)
	if err != nil {
		return c, err
	}
	if e.Fingerprint() == kb.Fingerprint {
		return c, store.Invalid("embedder", "%q made the vectors that are there already", e.Name())
	}
	now := s.cfg.Now()
	c = store.EmbedderChange{
		ID: store.NewID("job"), KnowledgeBaseID: kb.ID, State: store.ChangeFilling,
		Embedder: e.Name(), Fingerprint: e.Fingerprint(), Dimension: e.Dim(),
		Auto: req.Auto, Compare: req.Compare || len(req.Questions) > 0, Questions: req.Questions,
		Total: kb.ChunkCount, CreatedAt: now, UpdatedAt: now,
	}
	if err := s.cfg.Records.BeginEmbedderChange(ctx, c); err != nil {
		if errors.Is(err, store.ErrConflict) {
			err = fmt.Errorf("%w: an embedder change of %q is under way: switch to it or discard it first", store.ErrConflict, kb.Name)
		}
		return c, err
	}
	s.nudgeChanges(kb.ID)
	return c, nil
}

func validQuestions(questions []store.JudgedQuestion) error {
	if len(questions) > maxQuestions {
		return store.Invalid("questions", "are %d, at most %d are allowed", len(questions), maxQuestions)
	}
	for i, q := range questions {
		if q.Text == "" || len(q.Text) > maxQuestionBytes || !utf8.ValidString(q.Text) {
			return store.Invalid(fmt.Sprintf("questions[%d].text", i), "must be 1 to %d bytes of UTF-8", maxQuestionBytes)
		}
		for id, grade := range q.Relevant {
			if grade < 1 || grade > 100 {
				return store.Invalid(fmt.Sprintf("questions[%d].relevant", i), "has the grade %d for %s, allowed are 1 to 100", grade, id)
			}
		}
	}
	return nil
}

// EmbedderChange returns the change of a knowledge base, and why it does not go
// on at present, "" if it does. store.ErrNotFound.
func (s *Service) EmbedderChange(ctx context.Context, idOrName string) (c store.EmbedderChange, waiting string, err error) {
	c, err = s.changeOf(ctx, idOrName)
	return c, s.changeWaits(c.ID), err
}

func (s *Service) changeOf(ctx context.Context, idOrName string) (c store.EmbedderChange, err error) {
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return c, err
	}
	c, err = s.cfg.Records.EmbedderChange(ctx, kb.ID)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: no change of the embedder of %q", store.ErrNotFound, kb.Name)
	}
	c.Total = kb.ChunkCount // documents have come and gone since the last batch
	c.Done = min(c.Done, c.Total)
	return c, err
}

// SwitchEmbedder lets a knowledge base be searched with the new vectors, from
// one question to the next. store.ErrConflict if they are not all there.
func (s *Service) SwitchEmbedder(ctx context.Context, idOrName string) (store.EmbedderChange, error) {
	return s.exchange(ctx, idOrName, store.ChangeReady)
}

// RollBackEmbedder goes back to the old vectors, as SwitchEmbedder went to the
// new ones; documents that came meanwhile are found as the others are.
// store.ErrConflict if there was no switch.
func (s *Service) RollBackEmbedder(ctx context.Context, idOrName string) (store.EmbedderChange, error) {
	return s.exchange(ctx, idOrName, store.ChangeSwitched)
}

func (s *Service) exchange(ctx context.Context, idOrName string, from store.ChangeState) (store.EmbedderChange, error) {
	c, err := s.changeOf(ctx, idOrName)
	if err != nil {
		return c, err
	}
	if c.State != from {
		return c, fmt.Errorf("%w: the change of the embedder is in state %s, not %s", store.ErrConflict, c.State, from)
	}
	if err := s.switchTo(ctx, c); err != nil {
		return c, err
	}
	return s.cfg.Records.EmbedderChange(context.WithoutCancel(ctx), c.KnowledgeBaseID)
}

// DiscardEmbedder gives the second set of vectors up, in whatever state it is.
func (s *Service) DiscardEmbedder(ctx context.Context, idOrName string) error {
	c, err := s.changeOf(ctx, idOrName)
	if err != nil {
		return err
	}
	return s.discardChange(ctx, c.ID)
}

func (s *Service) discardChange(ctx context.Context, id string) error {
	c, err := s.cfg.Records.UpdateEmbedderChange(ctx, id, func(c *store.EmbedderChange) error {
		c.State = store.ChangeDiscarding
		return nil
	})
	if err != nil {
		return err
	}
	s.watch.publish(c.Job())
	s.nudgeChanges(c.KnowledgeBaseID)
	return nil
}

// cancelChange is Cancel for the job of a change: one that was switched to is no
// job any more. store.ErrNotFound if there is none of this id.
func (s *Service) cancelChange(ctx context.Context, id string) (store.Job, error) {
	c, err := s.cfg.Records.UpdateEmbedderChange(ctx, id, func(c *store.EmbedderChange) error {
		if c.State != store.ChangeFilling {
			return fmt.Errorf("%w: it has ended: %s", store.ErrConflict, c.State)
		}
		c.State = store.ChangeDiscarding
		return nil
	})
	if err != nil {
		return store.Job{}, err
	}
	s.watch.publish(c.Job())
	s.nudgeChanges(c.KnowledgeBaseID)
	return c.Job(), nil
}

// retryChange is Retry for the job of a change.
func (s *Service) retryChange(ctx context.Context, id string) (store.Job, error) {
	c, err := s.cfg.Records.UpdateEmbedderChange(ctx, id, func(c *store.EmbedderChange) error {
		if c.State != store.ChangeFailed {
			return fmt.Errorf("%w: it is %s", store.ErrConflict, c.State)
		}
		c.State, c.Error = store.ChangeFilling, ""
		return nil
	})
	if err != nil {
		return store.Job{}, err
	}
	s.nudgeChanges(c.KnowledgeBaseID)
	return c.Job(), nil
}

// Bounds of a switch while documents come in.
const (
	// switchTries is how often a switch looks for chunks that came meanwhile.
	switchTries = 5
	// switchBatches is for how many batches at most, of chunks that came while
	// the others were made, the indexes stand still, and switchPatience how long.
	switchBatches  = 4
	switchPatience = 10 * time.Second
)

// switchTo exchanges the two sets of vectors. What is missing is made while
// documents come and go, and only the last of it while the indexes stand still.
func (s *Service) switchTo(ctx context.Context, c store.EmbedderChange) error {
	for try := 1; ; try++ {
		if err := s.fill(ctx, c, nil); err != nil {
			return err
		}
		switched, err := s.switchFilled(ctx, c, try == switchTries)
		if switched || err != nil {
			return err
		}
	}
}

// switchFilled is switchTo for a set that lacks little; false if it lacks more
// by now, which is an error the last time.
func (s *Service) switchFilled(ctx context.Context, c store.EmbedderChange, last bool) (switched bool, err error) {
	defer s.order.lock(c.KnowledgeBaseID)()
	kb, err := s.cfg.Records.KnowledgeBase(ctx, c.KnowledgeBaseID)
	if err != nil {
		return false, err
	}
	if err := s.Quarantined(kb.ID); err != nil {
		return false, err
	}
	// Another may have switched while this one waited: to switch again would be
	// to go back.
	now, err := s.cfg.Records.EmbedderChange(ctx, kb.ID)
	if err != nil {
		return false, err
	}
	if now.ID != c.ID || now.State != c.State {
		return false, fmt.Errorf("%w: the change of the embedder is in state %s by now", store.ErrConflict, now.State)
	}
	missing, _, err := s.cfg.Records.CountMissing(ctx, c.ID)
	if err != nil {
		return false, err
	}
	if missing > switchBatches*s.cfg.Batch {
		if last {
			err = fmt.Errorf("%w: %d chunks came in that have no vector of %s yet: try again", store.ErrConflict, missing, c.Embedder)
		}
		return false, err
	}
	kb, err = s.switchRecords(ctx, kb, c)
	if err != nil {
		return false, err
	}
	// The truth has changed: the index follows even if the caller goes away.
	ctx = context.WithoutCancel(ctx)
	if err := s.cfg.Indexer.(Shadower).Switch(ctx, kb); err != nil { // it was loaded a moment ago
		s.quarantine(ctx, kb, err)
		return false, err
	}
	s.cfg.Log.Info("embedder switched", "knowledge_base", kb.ID, "embedder", kb.Embedder, "fingerprint", kb.Fingerprint)
	return true, nil
}

// switchRecords loads the second set beside the first and exchanges them in the
// records. Jobs may publish meanwhile, each one document at most: then they wait
// for the indexes. The caller holds the knowledge base's lock.
func (s *Service) switchRecords(ctx context.Context, kb store.KnowledgeBase, c store.EmbedderChange) (store.KnowledgeBase, error) {
	shadow, ok := s.cfg.Indexer.(Shadower)
	if !ok {
		return kb, errors.New("the search index holds one set of vectors only")
	}
	drop := func(err error) error { return errors.Join(err, shadow.DropShadow(context.WithoutCancel(ctx), kb.ID)) }
	then := kb
	then.Embedder, then.Fingerprint, then.Dimension = c.Embedder, c.Fingerprint, c.Dimension
	patient, cancel := context.WithTimeoutCause(ctx, switchPatience, fmt.Errorf("%w: the embedder took too long", store.ErrUnavailable))
	defer cancel()
	for try := 1; ; try++ {
		if err := s.fill(patient, c, nil); err != nil {
			if ctx.Err() == nil && patient.Err() != nil {
				err = context.Cause(patient)
			}
			return kb, drop(err)
		}
		if err := shadow.LoadShadow(ctx, then, s.cfg.Records.ChangeVectors(ctx, c.ID)); err != nil {
			return kb, drop(err)
		}
		after, err := s.cfg.Records.SwitchEmbedder(ctx, c.ID)
		if err == nil {
			return after, nil
		}
		missing, _, _ := s.cfg.Records.CountMissing(ctx, c.ID)
		if missing == 0 || try == switchTries {
			return kb, drop(err)
		}
	}
}
