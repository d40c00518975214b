package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"ragagent/store"
)

// Sizer is implemented by indexers that know how much memory they take.
type Sizer interface{ Bytes() int64 }

// Reserve is room on the disk that is given up when deleting needs it: on a
// full disk a deletion has to be written down before it makes room.
type Reserve interface {
	Release() error // once more does nothing
	// Refill takes what is not taken yet, as far as there is room: all of it, or
	// it is an error.
	Refill() error
}

// LogEmptier is implemented by records that can give back the room of what they
// have written twice.
type LogEmptier interface {
	EmptyLog(ctx context.Context) error
}

// What a chunk is expected to take in the indexes, in bytes.
const (
	bytesPerDim   = 5   // a float32 and a code
	bytesPerChunk = 200 // ids and tables
	bytesPerByte  = 1   // postings and positions of a byte of text
	bytesToBuild  = 9   // and for a while, when a long document is put in,
	mostToBuild   = 300 << 20
)

// fits is store.ErrTooLarge if the indexes would pass their ceiling with these
// chunks and vectors of dim dimensions; with none, if they have reached it.
func (s *Service) fits(chunks []store.Chunk, dim int) error {
	sizer, ok := s.cfg.Indexer.(Sizer)
	if !ok {
		return nil
	}
	text := 0
	for i := range chunks {
		text += len(chunks[i].Text) + len(chunks[i].Context)
	}
	need := int64(len(chunks)*(bytesPerChunk+bytesPerDim*dim) + bytesPerByte*text)
	if len(chunks) > longDocument {
		need += int64(min(bytesToBuild*text, mostToBuild))
	}
	if used := sizer.Bytes(); used+max(need, 1) > s.cfg.MaxIndexBytes {
		return fmt.Errorf("%w: the search indexes take %d bytes of memory, this needs about %d and the ceiling is %d: "+
			"delete something or raise the ceiling", store.ErrTooLarge, used, need, s.cfg.MaxIndexBytes)
	}
	return nil
}

// Pauses between attempts on a full disk.
const (
	firstPause = time.Second
	maxPause   = time.Minute
)

// stall is why no job is taken up, and until when.
type stall struct {
	reason string // "" while nothing is wrong
	until  time.Time
	pause  time.Duration // the latest one
	ended  chan struct{} // closed when it is over before its time
	// unreturned are jobs that could not even be given back.
	unreturned []string
}

// errReserve says that room comes first to what deleting needs.
var errReserve = fmt.Errorf("%w: what is free is kept for deleting: delete something or make room", store.ErrFull)

// reserve guards Config.Reserve.
type reserve struct {
	mu      sync.Mutex
	lacking bool // it is not whole
}

// Stalled says why no job is taken up at present, "" if jobs are.
func (s *Service) Stalled() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stall.reason
}

// pauseJobs keeps the workers from taking jobs for a while, twice as long each
// time in a row.
func (s *Service) pauseJobs(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cfg.Now().Before(s.stall.until) {
		return // another worker met it too
	}
	s.stall.pause = min(max(2*s.stall.pause, firstPause), maxPause)
	s.stall.until = s.cfg.Now().Add(s.stall.pause)
	s.stall.reason = "waits for room on the disk, and goes on by itself when there is some: " + cause.Error()
	if s.stall.ended == nil {
		s.stall.ended = make(chan struct{})
	}
	s.cfg.Log.Warn("the disk is full: jobs are paused", "for", s.stall.pause, "error", cause)
}

// resumeJobs lets the workers try again now. well says that a job has just been
// done: nothing is wrong any more.
func (s *Service) resumeJobs(well bool) {
	_ = s.reserved(context.Background()) // what was freed is for the reserve first
	s.mu.Lock()
	if s.stall.ended != nil {
		close(s.stall.ended)
		s.stall.ended = nil
	}
	s.stall.until = time.Time{}
	if well {
		s.stall.reason, s.stall.pause = "", 0
	}
	s.mu.Unlock()
}

// awaitRoom waits for the end of a pause, and until the reserve is whole: a job
// that took of it would take what deleting needs. false: ctx has ended.
func (s *Service) awaitRoom(ctx context.Context) bool {
	for {
		s.mu.Lock()
		wait, ended := s.stall.until.Sub(s.cfg.Now()), s.stall.ended
		s.mu.Unlock()
		if wait > 0 {
			select {
			case <-ctx.Done():
			case <-ended:
			case <-time.After(wait):
			}
		}
		if ctx.Err() != nil {
			return false
		}
		if s.reserved(ctx) == nil {
			return true
		}
		s.pauseJobs(errReserve)
	}
}

// giveBack returns a running job to the queue; where even that cannot be
// written, it is tried again later.
func (s *Service) giveBack(ctx context.Context, id string) {
	err := s.cfg.Records.Requeue(ctx, id)
	if err == nil {
		return
	}
	if store.IsFull(err) {
		s.mu.Lock()
		s.stall.unreturned = append(s.stall.unreturned, id)
		s.mu.Unlock()
		return
	}
	s.cfg.Log.Error("job not given back; it is taken up when its lease ends", "job", id, "error", err)
}

// giveBackAll tries that once more.
func (s *Service) giveBackAll(ctx context.Context) {
	s.mu.Lock()
	ids := s.stall.unreturned
	s.stall.unreturned = nil
	s.mu.Unlock()
	for _, id := range ids {
		s.giveBack(ctx, id)
	}
}

// deleting does what frees room. If there is not even room to write down what
// is deleted, the reserve is given up for it, and what it leaves is taken back
// before anybody else has it.
func (s *Service) deleting(do func() error) error {
	err := do()
	if err == nil || !store.IsFull(err) || s.cfg.Reserve == nil {
		return err
	}
	s.reserve.mu.Lock()
	defer s.reserve.mu.Unlock()
	s.reserve.lacking = true
	if released := s.cfg.Reserve.Release(); released != nil {
		return errors.Join(err, released)
	}
	s.emptyLog() // of what was written before, which may have taken all other room
	err = do()
	_ = s.refill() // whoever needs it whole tries again
	return err
}

// reserved is errReserve while the reserve is not whole. It takes what room there
// is for it.
func (s *Service) reserved(ctx context.Context) error {
	s.reserve.mu.Lock()
	defer s.reserve.mu.Unlock()
	if s.cfg.Reserve == nil || !s.reserve.lacking || ctx.Err() != nil || s.refill() == nil {
		return nil
	}
	return errReserve
}

// refill makes the reserve whole, if that can be. s.reserve.mu is held.
func (s *Service) refill() error {
	s.emptyLog()
	err := s.cfg.Reserve.Refill()
	s.reserve.lacking = err != nil
	return err
}

// emptyLog gives back what room it can.
func (s *Service) emptyLog() {
	records, ok := s.cfg.Records.(LogEmptier)
	if !ok {
		return
	}
	if err := records.EmptyLog(context.Background()); err != nil && !store.IsFull(err) {
		s.cfg.Log.Error("the log of the records keeps its room", "error", err)
	}
}
