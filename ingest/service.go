package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"ragagent/store"
)

// Config wires a Service. Records, Blobs, Indexer, Parser and an embedder are
// required; every other zero value is the default named beside it.
type Config struct {
	Records Records
	Blobs   store.Blobs
	Indexer Indexer
	Parser  Parser
	// Embedder is the only one there is, unless OpenEmbedder is given.
	Embedder Embedder
	// OpenEmbedder returns an embedder by its name, "provider/name", and
	// DefaultEmbedder is the name of the one that new knowledge bases get. Its
	// error is store.ErrUnavailable if the embedder does not answer,
	// store.ErrInvalid if there is none of this name.
	OpenEmbedder    func(ctx context.Context, name string) (Embedder, error)
	DefaultEmbedder string
	// Compare says how the answers to questions differ between two states of a
	// knowledge base, of which only the embedder differs; nil: nobody can say.
	Compare func(ctx context.Context, now, then store.KnowledgeBase, questions []store.JudgedQuestion) (store.Comparison, error)

	// Fetcher gets what URLs lead to; nil refuses them.
	Fetcher Fetcher
	// Jitter returns numbers in [0,1) that spread fetches in time; math/rand's.
	Jitter func() float64

	// Reserve is given up when deleting needs room on a full disk; may be nil.
	Reserve Reserve

	MaxFileBytes int64 // of one upload; 512 MiB
	// MaxIndexBytes bounds the memory of the search indexes; 8 GiB. Beyond it
	// uploads are store.ErrTooLarge.
	MaxIndexBytes int64
	Workers       int           // jobs at a time; the number of cores
	Batch         int           // chunks that are embedded and journalled together; 128
	Lease         time.Duration // a worker that is silent for longer has died; 1 minute
	TempDir       string        // of long texts that are being worked on, and archives in archives; the system's
	// MaxAttempts is how often in a row a job may get no further before the server
	// ends, until it is suspected to cause that and fails; 10. Jobs to which that
	// has happened thrice wait for Wary after each start, 10 s, and from then on a
	// tenth of it for each other: a server that is ended sooner is not ended by
	// them, and what happened to run beside the one that ends it is told from it.
	MaxAttempts   int
	Wary          time.Duration
	JobTimeout    time.Duration // of one attempt; 1 hour
	UnpackTimeout time.Duration // of one archive; 10 minutes
	// Retry is the first pause when a service that jobs need, such as an
	// embedder, does not answer; 1 second. Each further one is twice as long, up
	// to about a minute and a half.
	Retry time.Duration
	Now   func() time.Time
	Log   *slog.Logger // discarded
}

// Service owns knowledge bases, documents and jobs. All methods may be called
// concurrently.
type Service struct {
	cfg       Config
	watch     *board
	paces     *paces
	refetches refetches
	turns     *turns

	blobs blobGuard
	// order keeps the changes of one document in the search indexes in the
	// order of the truth.
	order keyed

	sweeping sync.Mutex // of the blobs of deletions
	building sync.Mutex // of indexes from texts: one at a time has all cores

	changes *changer // of embedders

	wake    chan struct{} // a job may be waiting
	fetches chan struct{} // a fetch may be waiting
	crawls  chan struct{} // a crawl may be
	stop    context.CancelFunc
	workers sync.WaitGroup

	mu          sync.Mutex
	running     map[*running]struct{}
	quarantined map[string]*QuarantineError // by knowledge base id
	stall       stall
	reserve     reserve
	outages     map[string]*outage // by knowledge base id
}

// running is an attempt that a worker of this process is at.
type running struct {
	job    store.Job
	cancel context.CancelCauseFunc
}

// New checks the configuration. Nothing runs until Start.
func New(cfg Config) (*Service, error) {
	if cfg.Records == nil || cfg.Blobs == nil || cfg.Indexer == nil || cfg.Parser == nil || cfg.Embedder == nil && cfg.OpenEmbedder == nil {
		return nil, errors.New("ingest: records, blobs, indexer, parser and embedder are required")
	}
	if cfg.MaxFileBytes <= 0 {
		cfg.MaxFileBytes = 512 << 20
	}
	if cfg.MaxIndexBytes <= 0 {
		cfg.MaxIndexBytes = 8 << 30
	}
	if cfg.Workers <= 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	if cfg.Batch <= 0 {
		cfg.Batch = 128
	}
	if cfg.Lease <= 0 {
		cfg.Lease = time.Minute
	}
	if cfg.MaxAttempts <= 0 {
		cfg.MaxAttempts = 10
	}
	if cfg.Wary <= 0 {
		cfg.Wary = 10 * time.Second
	}
	if cfg.UnpackTimeout <= 0 {
		cfg.UnpackTimeout = 10 * time.Minute
	}
	if cfg.JobTimeout <= 0 {
		cfg.JobTimeout = time.Hour
	}
	if cfg.Retry <= 0 {
		cfg.Retry = time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Jitter == nil {
		cfg.Jitter = rand.Float64
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		cfg:     cfg,
		watch:   newBoard(),
		paces:   newPaces(),
		turns:   newTurns(),
		changes: newChanger(),
		blobs:   blobGuard{names: newKeyed()},
		order:   newKeyed(),
		wake:    make(chan struct{}, 1),
		fetches: make(chan struct{}, 1),
		crawls:  make(chan struct{}, 1),
		running: map[*running]struct{}{},

		quarantined: map[string]*QuarantineError{},
		outages:     map[string]*outage{},
	}, nil
}

// suspicious is after how many attempts that ended with the server a job may
// be what ends it.
const suspicious = 3

// Start takes up what an earlier process left and begins to work. The caller
// holds the data folder's lock, so no other worker can have a lease.
func (s *Service) Start(ctx context.Context) error {
	var n int
	err := s.deleting(func() (err error) { // on a full disk, too, one has to start to delete
		n, err = s.cfg.Records.RequeueAll(ctx, store.Suspects{Attempts: suspicious, From: s.cfg.Now().Add(s.cfg.Wary), Apart: s.cfg.Wary / 10})
		return err
	})
	if err != nil {
		return fmt.Errorf("take up interrupted jobs: %w", err)
	}
	if n > 0 {
		s.cfg.Log.Info("jobs taken up again", "count", n)
	}
	turn, err := s.cfg.Records.NextTurn(ctx)
	if err != nil {
		return fmt.Errorf("take up interrupted jobs: %w", err)
	}
	s.turns.taken(turn)
	s.reserve.lacking = s.cfg.Reserve != nil // for all that is known
	if err := s.reserved(ctx); err != nil {
		s.cfg.Log.Warn("no room for the reserve: jobs and uploads wait for it", "error", err)
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.workers.Go(func() { s.changeEmbedders(run) })
	s.workers.Go(func() { s.keepSweeping(run) })
	for range s.cfg.Workers {
		s.workers.Go(func() { s.work(run) })
	}
	s.startFetching(run)
	return nil
}

// Close stops the workers. Running jobs are given back to the queue and go on
// where they were when the service is started again.
func (s *Service) Close() error {
	if s.stop != nil {
		s.stop()
	}
	s.workers.Wait()
	s.watch.close()
	return nil
}

// keyed is a mutex per key that exists while somebody holds or awaits it.
type keyed struct {
	mu    sync.Mutex
	locks map[string]*keyLock
}

type keyLock struct {
	sync.Mutex
	users int
}

func newKeyed() keyed { return keyed{locks: map[string]*keyLock{}} }

// settle returns when everybody who holds a lock at its call has let go of it.
// The caller holds none.
func (k *keyed) settle() {
	k.mu.Lock()
	keys := slices.Collect(maps.Keys(k.locks))
	k.mu.Unlock()
	for _, key := range keys {
		k.lock(key)()
	}
}

func (k *keyed) lock(key string) (unlock func()) {
	k.mu.Lock()
	l := k.locks[key]
	if l == nil {
		l = &keyLock{}
		k.locks[key] = l
	}
	l.users++
	k.mu.Unlock()
	l.Lock()
	return func() {
		l.Unlock()
		k.mu.Lock()
		if l.users--; l.users == 0 {
			delete(k.locks, key)
		}
		k.mu.Unlock()
	}
}
