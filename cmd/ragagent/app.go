package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ragagent/api"
	"ragagent/ingest"
	"ragagent/retrieval"
	"ragagent/retrieval/calibrate"
	"ragagent/retrieval/eval/queue"
	"ragagent/retrieval/lsa"
	"ragagent/store"
	"ragagent/store/blob"
	"ragagent/store/datadir"
	"ragagent/store/sidefile"
	"ragagent/store/sqlite"
)

// What a data folder holds.
const (
	recordsFile   = "ragagent.db"
	blobsFolder   = "blobs"
	indexesFolder = "indexes" // what indexes were: see store/sidefile
	agentsFolder  = "agents"  // agents that users have declared, in YAML
	spoolFolder   = "spool"   // uploads that are still being read
)

// appConfig says what to wire.
type appConfig struct {
	data      string
	mustExist bool // do not make an empty data folder by mistake
	models    modelFlags
	fetch     fetchFlags
	maxMemory int64         // of the search indexes, in MiB; 0 means half of the machine's
	fromTexts bool          // build the indexes from the texts: side files are neither read nor written
	saveEvery time.Duration // least time between two side files of an index; 0 means the default
	addr      string        // where this process serves; "" if it does not
	hosts     []string      // names this process is addressed by
	origins   []string      // of web pages that may call it
	log       *slog.Logger
}

// holder is what the process that has a data folder tells the others.
type holder struct {
	PID  int    `json:"pid"`
	Addr string `json:"addr,omitempty"`
}

// app is the whole product over one data folder.
type app struct {
	records   *sqlite.DB
	blobs     *blob.Dir
	service   *ingest.Service
	pipeline  *retrieval.Pipeline
	traffic   *queue.Traffic      // the pipeline, and who asks it
	retriever retrieval.Retriever // traffic, for all who ask
	server    *api.Server

	evaluations *queue.Queue

	index     *retrieval.Index
	sideFiles *sidefile.Folder
	saver     *retrieval.Saver // of side files; nil if there are none
	topics    *lsa.Index
	weights   *calibrate.Calibrator
	log       *slog.Logger
	data      string         // the data folder
	spool     string         // folder for uploads that are being read
	backups   sync.Mutex     // held while a backup is written
	verifying sync.Mutex     // held while a server verifies
	closers   []func() error // in the order they were opened

	ready         atomic.Bool
	loaded, total atomic.Int64 // knowledge bases
}

// openApp opens the data folder and wires every room. Nothing runs yet. The
// error wraps store.ErrInUse if another process has the folder.
func openApp(ctx context.Context, cfg appConfig) (_ *app, err error) {
	if cfg.log == nil {
		cfg.log = slog.New(slog.DiscardHandler)
	}
	if cfg.mustExist && !exists(filepath.Join(cfg.data, recordsFile)) && !holdsBlobs(cfg.data) {
		return nil, fmt.Errorf("%s holds no data: say where it is with --data", cfg.data)
	}
	a := &app{log: cfg.log, data: cfg.data, spool: filepath.Join(cfg.data, spoolFolder)}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if err := a.openStores(ctx, cfg); err != nil {
		return nil, err
	}
	if err := a.wire(cfg); err != nil {
		return nil, err
	}
	if _, err := a.records.InterruptCheckpoints(ctx, time.Now()); err != nil { // of a process that is gone: we have the folder
		return nil, explained(err, a.recordsPath())
	}
	return a, explained(a.service.Recover(ctx), a.recordsPath())
}

// Close ends what runs and closes what is open, last opened first.
func (a *app) Close() error {
	var errs []error
	for _, c := range slices.Backward(a.closers) {
		errs = append(errs, c())
	}
	a.closers = nil
	return errors.Join(errs...)
}

func (a *app) onClose(f func() error) { a.closers = append(a.closers, f) }

// openStores takes the data folder and opens the truth.
func (a *app) openStores(ctx context.Context, cfg appConfig) (err error) {
	info, err := json.Marshal(holder{PID: os.Getpid(), Addr: cfg.addr})
	if err != nil {
		return err
	}
	unlock, err := datadir.Lock(cfg.data, info)
	if store.IsFull(err) && datadir.NewReserve(cfg.data, 0).Release() == nil { // as in openRecords
		unlock, err = datadir.Lock(cfg.data, info)
	}
	if err != nil {
		return err
	}
	a.onClose(unlock)
	if err := errors.Join(finished(cfg.data), removeSnapshot(cfg.data)); err != nil {
		return err
	}
	if a.records, err = openRecords(ctx, cfg.data); err != nil {
		return err
	}
	for _, damage := range a.records.Damage() {
		cfg.log.Error("the records were changed behind our back: run 'ragagent verify' and restore a backup", "damage", damage)
	}
	a.onClose(a.records.Close)
	if a.blobs, err = blob.New(blob.Config{Dir: filepath.Join(cfg.data, blobsFolder)}); err != nil {
		return err
	}
	a.onClose(a.blobs.Close)
	return a.openSideFiles(cfg)
}

// openRecords opens the database. On a full disk it gives up the reserve for
// that: what is to be deleted has to be open.
func openRecords(ctx context.Context, data string) (*sqlite.DB, error) {
	path := filepath.Join(data, recordsFile)
	if info, err := os.Stat(path); (err != nil || info.Size() == 0) && holdsBlobs(data) {
		return nil, fmt.Errorf("%s is missing or empty, and the files it describes are there: restore the latest backup into a new folder, "+
			"ragagent restore FILE --data NEWFOLDER", path)
	}
	config := sqlite.Config{Path: path, Room: func() int64 { return sidefile.Free(data) }}
	db, err := sqlite.Open(ctx, config)
	if errors.Is(err, store.ErrFull) && datadir.NewReserve(data, 0).Release() == nil {
		db, err = sqlite.Open(ctx, config)
	}
	return db, explained(err, path)
}

// holdsBlobs says whether a data folder was in use before.
func holdsBlobs(data string) bool {
	blobs, err := filepath.Glob(filepath.Join(data, blobsFolder, "??", "*"))
	return err == nil && len(blobs) > 0
}

// explained says of a damaged database what can be done about it.
func explained(err error, path string) error {
	if !errors.Is(err, store.ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w\n%s cannot be used as it is. Keep a copy of its folder, then restore the latest backup "+
		"into a new one: ragagent restore FILE --data NEWFOLDER", err, path)
}

// wire sets up the rooms above the truth, each from those below it.
func (a *app) wire(cfg appConfig) error {
	registry, err := newEmbedders(cfg.models, cfg.log)
	if err != nil {
		return err
	}
	known := embedders{registry}
	if a.index, err = a.wireRetrieval(cfg, known); err != nil {
		return err
	}
	if err := a.wireIngest(cfg, known, a.index); err != nil {
		return err
	}
	if a.evaluations, err = queue.New(queue.Config{Records: a.records, Traffic: a.traffic, Log: cfg.log}); err != nil {
		return err
	}
	a.onClose(a.evaluations.Close)
	return a.wireServer(cfg)
}
