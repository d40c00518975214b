package retrieval

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ragagent/store"
)

// SaverConfig says when side files are written. Every zero value but Index is
// the default named beside it.
type SaverConfig struct {
	Index *Index
	// Every is the least time between two files of one knowledge base; 30 s.
	Every time.Duration
	// Quiet is how long a knowledge base has not changed before it is written;
	// 2 s, or Every if that is less. One that never rests is written all the same, ten times as seldom as
	// Every says.
	Quiet time.Duration
	// BytesPerSecond bounds the writing while the index is in use; 64 MiB.
	BytesPerSecond int64
	// CloseTimeout bounds what Close writes; 10 s.
	CloseTimeout time.Duration
	Log          *slog.Logger // discarded
}

// Shares, one in so many, of chunks that came or went before a file is written:
// what a start has to put right then costs less than a tenth of the start. On
// closing a smaller change is worth a file too.
const (
	saveShare  = 20
	closeShare = 100
)

// restless is how many times Every a knowledge base that never rests waits.
const restless = 10

// Saver writes the side files of an Index in the background, one at a time.
// What it cannot write is rebuilt or put right at the next start: no failure of
// it is anybody's but the log's.
type Saver struct {
	cfg  SaverConfig
	stop context.CancelFunc
	done sync.WaitGroup

	mu   sync.Mutex
	told bool // that there is no room
}

// NewSaver checks the configuration. Nothing runs until Start.
func NewSaver(cfg SaverConfig) (*Saver, error) {
	if cfg.Index == nil {
		return nil, errors.New("retrieval: SaverConfig.Index is required")
	}
	if cfg.Every <= 0 {
		cfg.Every = 30 * time.Second
	}
	if cfg.Quiet <= 0 {
		cfg.Quiet = min(2*time.Second, cfg.Every)
	}
	if cfg.BytesPerSecond <= 0 {
		cfg.BytesPerSecond = 64 << 20
	}
	if cfg.CloseTimeout <= 0 {
		cfg.CloseTimeout = 10 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Saver{cfg: cfg}, nil
}

// Start begins to watch. It is called once, and not after Close.
func (s *Saver) Start() {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.done.Go(func() {
		tick := time.NewTicker(min(s.cfg.Quiet, s.cfg.Every))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				s.save(ctx, s.due(s.cfg.Index.now()))
			}
		}
	})
}

// Close ends the watching and writes what has changed, as far as CloseTimeout
// allows. Without Start it does nothing.
func (s *Saver) Close() error {
	if s.stop == nil {
		return nil
	}
	s.stop()
	s.done.Wait()
	s.stop = nil
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.CloseTimeout)
	defer cancel()
	s.cfg.BytesPerSecond = 0 // nobody is in the way any more
	s.save(ctx, s.last())
	if err := s.cfg.Index.removeOutdated(); err != nil {
		s.cfg.Log.Error("side files that have deleted words are still there", "error", err)
	}
	return nil
}

// due lists the knowledge bases to be written now.
func (s *Saver) due(now time.Time) (kbs []string) {
	for _, b := range s.cfg.Index.states() {
		since := now.Sub(b.saved)
		rests := now.Sub(b.latest) >= s.cfg.Quiet
		enough := b.changed > 0 && b.changed*saveShare >= b.chunks &&
			(rests && since >= s.cfg.Every || since >= restless*s.cfg.Every)
		// Deleted words leave the disk soon, few as they may be.
		if enough || b.went > 0 && (rests && since >= s.cfg.Every || since >= 2*s.cfg.Every) {
			kbs = append(kbs, b.kb)
		}
	}
	slices.Sort(kbs)
	return kbs
}

// last lists the knowledge bases to be written before the end, small ones
// first: most of them come in time.
func (s *Saver) last() (kbs []string) {
	states := slices.DeleteFunc(s.cfg.Index.states(), func(b state) bool {
		return b.changed == 0 || b.went == 0 && b.changed*closeShare < b.chunks
	})
	slices.SortFunc(states, func(a, b state) int { return a.chunks - b.chunks })
	for _, b := range states {
		kbs = append(kbs, b.kb)
	}
	return kbs
}

// save writes side files one after the other.
func (s *Saver) save(ctx context.Context, kbs []string) {
	for _, kb := range kbs {
		err := s.cfg.Index.saveAt(ctx, kb, s.cfg.BytesPerSecond)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			s.tell(false)
		case errors.Is(err, store.ErrNotFound): // it has just gone
		case store.IsFull(err):
			if s.tell(true) {
				s.cfg.Log.Warn("no room for the side files of the indexes: the next start takes longer", "error", err)
			}
		default:
			s.cfg.Log.Error("side file not written: the next start takes longer", "id", kb, "error", err)
		}
	}
}

// tell notes whether there is room, and says if that is to be logged: once.
func (s *Saver) tell(full bool) (log bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	log, s.told = full && !s.told, full
	return log
}

// paced writes at most so many bytes a second, in the long run.
type paced struct {
	ctx     context.Context
	to      io.Writer
	rate    int64
	began   time.Time
	written int64
}

// Write implements io.Writer.
func (p *paced) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	p.written += int64(n)
	ahead := time.Duration(float64(p.written)/float64(p.rate)*float64(time.Second)) - time.Since(p.began)
	if err != nil || ahead < 10*time.Millisecond { // shorter sleeps are not kept
		return n, err
	}
	select {
	case <-time.After(ahead):
		return n, nil
	case <-p.ctx.Done():
		return n, p.ctx.Err()
	}
}
