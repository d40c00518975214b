package calibrate

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"ragagent/retrieval"
	"ragagent/store"
)

// Config of a Calibrator. Space, Sample and Records are required; every other
// zero value is the default named beside it.
type Config struct {
	Space   Space
	Records Records
	// Sample returns the ids of at most n chunks from all over a knowledge base;
	// retrieval.Index has it.
	Sample func(kbID string, n int) []string
	// Measured are weights that are known, by fingerprint; nil: none.
	Measured map[string]float64
	// Files keep calibrations for the next start; nil: they are made again.
	Files retrieval.SideFiles
	// Every is how often the background looks for something to do; 2 s.
	Every time.Duration
	// Timeout of one calibration; 5 minutes.
	Timeout time.Duration
	Now     func() time.Time
	Log     *slog.Logger // discarded
}

// Calibrator knows the weight of the vectors of each knowledge base. What it
// does not know it finds out in the background, one knowledge base at a time;
// until then vectors count nothing.
type Calibrator struct {
	cfg  Config
	stop context.CancelFunc
	done sync.WaitGroup
	busy sync.Mutex // held while one is calibrated

	mu    sync.Mutex
	known map[string]*entry // by knowledge base
}

// entry is what is known of one knowledge base. Guarded by Calibrator.mu.
type entry struct {
	weights map[string]retrieval.DenseWeight // by fingerprint
	chunks  int                              // when it was looked at last
	waits   time.Time                        // since when there is something to do
	failed  int                              // times in a row
	retry   time.Time
}

// New returns a Calibrator; nothing runs until Start.
func New(cfg Config) (*Calibrator, error) {
	if cfg.Space == nil || cfg.Sample == nil || cfg.Records == nil {
		return nil, errors.New("calibrate: Config.Space, Sample and Records are required")
	}
	if cfg.Every <= 0 {
		cfg.Every = 2 * time.Second
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 5 * time.Minute
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Calibrator{cfg: cfg, known: make(map[string]*entry)}, nil
}

// Weight returns what is known now of the vectors that a knowledge base names.
// It never waits for a calibration.
func (c *Calibrator) Weight(kb store.KnowledgeBase) retrieval.DenseWeight {
	if w, ok := c.cfg.Measured[kb.Fingerprint]; ok {
		return retrieval.DenseWeight{Weight: w, Source: retrieval.WeightMeasured}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w, ok := c.entry(kb.ID).weights[kb.Fingerprint]; ok {
		return w
	}
	return retrieval.DenseWeight{Source: retrieval.WeightPending}
}

// Ensure calibrates the vectors that a knowledge base names, unless that was
// done for about as many chunks. Errors are those of its embedder and indexes.
func (c *Calibrator) Ensure(ctx context.Context, kb store.KnowledgeBase) error {
	if !c.due(kb) {
		return nil
	}
	c.busy.Lock()
	defer c.busy.Unlock()
	if !c.due(kb) { // another was faster
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	w, err := c.calibrate(ctx, kb)
	if err != nil {
		return err
	}
	c.mu.Lock()
	e := c.entry(kb.ID)
	e.failed, e.waits = 0, time.Time{}
	e.keep(kb.Fingerprint, w)
	kept := e.kept()
	c.mu.Unlock()
	c.cfg.Log.Info("calibrated an embedder", "knowledge_base", kb.Name, "embedder", kb.Embedder, "weight", w.Weight,
		"agreement", w.Agreement, "error", w.Error, "questions", w.Questions)
	if err := c.save(ctx, kb.ID, kept); err != nil { // it is known all the same, until the end of this process
		c.cfg.Log.Warn("a calibration is not kept", "knowledge_base", kb.Name, "error", err)
	}
	return nil
}

// growth is how many times more, or fewer, chunks make a calibration old.
const growth = 2

// due says whether there is something to calibrate.
func (c *Calibrator) due(kb store.KnowledgeBase) bool {
	if kb.Fingerprint == "" || kb.ChunkCount == 0 {
		return false
	}
	w := c.Weight(kb)
	switch w.Source {
	case retrieval.WeightMeasured:
		return false
	case retrieval.WeightPending:
		return true
	}
	return kb.ChunkCount >= growth*w.Chunks || kb.ChunkCount*growth <= w.Chunks
}

// Start begins to watch the knowledge bases. It is called once, and not after Close.
func (c *Calibrator) Start() {
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.done.Go(func() {
		tick := time.NewTicker(c.cfg.Every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				c.round(ctx)
			}
		}
	})
}

// Close ends the watching. Without Start it does nothing.
func (c *Calibrator) Close() error {
	if c.stop != nil {
		c.stop()
		c.done.Wait()
		c.stop = nil
	}
	return nil
}

// round looks at every knowledge base once.
func (c *Calibrator) round(ctx context.Context) {
	page := store.Page{Limit: store.MaxPage}
	there := make(map[string]bool)
	for {
		kbs, err := c.cfg.Records.KnowledgeBases(ctx, page)
		if err != nil {
			return // the next round may read them
		}
		for _, kb := range kbs {
			there[kb.ID] = true
			if !c.due(kb) || !c.rests(kb) {
				continue
			}
			if err := c.Ensure(ctx, kb); err != nil {
				if ctx.Err() != nil {
					return
				}
				c.failed(kb, err)
			}
		}
		if len(kbs) < page.Size() {
			break
		}
		page.After = kbs[len(kbs)-1].ID
	}
	c.forget(there)
}

// patience is how long a knowledge base may go on growing before it is
// calibrated all the same.
const patience = time.Minute

// rests says whether a knowledge base that is due has as many chunks as a round
// before, or has had its time, and is not to be left alone after a failure.
func (c *Calibrator) rests(kb store.KnowledgeBase) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, now := c.entry(kb.ID), c.cfg.Now()
	same := e.chunks == kb.ChunkCount
	e.chunks = kb.ChunkCount
	if e.waits.IsZero() {
		e.waits = now
	}
	return (same || now.Sub(e.waits) >= patience) && !now.Before(e.retry)
}

// longestPause between two attempts after failures.
const longestPause = 10 * time.Minute

func (c *Calibrator) failed(kb store.KnowledgeBase, err error) {
	c.mu.Lock()
	e := c.entry(kb.ID)
	pause := min(c.cfg.Every<<min(e.failed, 10), longestPause)
	e.failed++
	e.retry = c.cfg.Now().Add(pause)
	first := e.failed == 1
	c.mu.Unlock()
	if first {
		c.cfg.Log.Warn("the weight of an embedder is not known: its vectors count nothing so far",
			"knowledge_base", kb.Name, "embedder", kb.Embedder, "error", err)
	}
}

// forget drops what is known of knowledge bases that are gone.
func (c *Calibrator) forget(there map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for kb := range c.known {
		if !there[kb] {
			delete(c.known, kb)
			if c.cfg.Files != nil {
				_ = c.cfg.Files.Remove(FileKind, kb) // the next start removes it
			}
		}
	}
}
