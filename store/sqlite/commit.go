package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Bounds of a group of writes that share one transaction.
const (
	maxGroup = 64
	// maxGroupTime is when a group takes up no further write, so that a small
	// one does not wait for many large ones.
	maxGroupTime = 10 * time.Millisecond
)

// committer lets writes that are waiting at the same time share a transaction
// and so one sync of the log (group commit). Each is a savepoint of its own:
// one that fails takes nothing of the others with it. A write that is alone is
// an ordinary transaction; nothing ever waits for company.
//
// There is no goroutine: whoever gets the turn runs what is waiting.
type committer struct {
	pool *sql.DB
	turn chan struct{} // one element while somebody has the turn
	then func()        // is called after each group, within the turn

	mu      sync.Mutex
	waiting []*change
}

// change is one write.
type change struct {
	ctx  context.Context
	do   func(context.Context, *sql.Tx) error
	done chan struct{} // closed when err is final
	err  error
}

func newCommitter(pool *sql.DB, then func()) *committer {
	return &committer{pool: pool, then: then, turn: make(chan struct{}, 1)}
}

// run returns when the write is durable, or has failed and left nothing. do may
// be called more than once, each time with nothing of the time before left.
func (c *committer) run(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	w := &change{ctx: ctx, do: do, done: make(chan struct{})}
	c.mu.Lock()
	c.waiting = append(c.waiting, w)
	c.mu.Unlock()
	cancelled := ctx.Done()
	for {
		select {
		case <-w.done:
			return w.err
		case <-cancelled:
			if c.withdraw(w) {
				return ctx.Err()
			}
			// Somebody is at it: what becomes of it has to be known. It may be
			// put back, with nobody else to take the turn.
			cancelled = nil
		case c.turn <- struct{}{}:
			c.lead()
		}
	}
}

// withdraw takes a write back that nobody has begun.
func (c *committer) withdraw(w *change) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.Index(c.waiting, w)
	if at >= 0 {
		c.waiting = slices.Delete(c.waiting, at, at+1)
	}
	return at >= 0
}

// lead runs a group of what is waiting, and gives the turn back.
func (c *committer) lead() {
	defer func() { <-c.turn }()
	c.mu.Lock()
	n := min(len(c.waiting), maxGroup)
	group := slices.Clone(c.waiting[:n])
	c.waiting = slices.Delete(c.waiting, 0, n)
	c.mu.Unlock()
	defer abandon(group) // none is left waiting by a panic in one of them
	switch n {
	case 0: // another leader has done it
	case 1:
		group[0].end(inTx(group[0].ctx, c.pool, nil, group[0].do))
	default:
		c.together(group)
	}
	if n > 0 {
		c.then()
	}
}

func (w *change) end(err error) {
	w.err = err
	close(w.done)
}

// abandon ends what a panic keeps from being run, and lets the panic go on.
func abandon(group []*change) {
	p := recover()
	if p == nil {
		return
	}
	for _, w := range group {
		select {
		case <-w.done:
		default:
			w.end(errors.New("a panic in this write or in one that shared its transaction"))
		}
	}
	panic(p)
}

// together runs a group in one transaction. If that is lost as a whole, which
// SQLite does to it on some errors, each is run by itself.
func (c *committer) together(group []*change) {
	// No caller's context: one that goes away must not end the transaction of
	// the others.
	ctx := context.WithoutCancel(group[0].ctx)
	var ran int
	var failed []error
	err := inTx(ctx, c.pool, nil, func(_ context.Context, tx *sql.Tx) (err error) {
		ran, failed, err = savepoints(ctx, tx, group)
		return err
	})
	if err == nil {
		for i, w := range group[:ran] {
			w.end(failed[i])
		}
		c.putBack(group[ran:])
		return
	}
	for _, w := range group {
		w.end(inTx(w.ctx, c.pool, nil, w.do))
	}
}

// putBack lets writes be the next.
func (c *committer) putBack(rest []*change) {
	if len(rest) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(slices.Clone(rest), c.waiting...)
}

// savepoints runs writes until the time of a group is over: ran of them, of
// which failed says how each ended. Its error means that the transaction is lost.
func savepoints(ctx context.Context, tx *sql.Tx, group []*change) (ran int, failed []error, err error) {
	begin := time.Now()
	for _, w := range group {
		if ran > 0 && time.Since(begin) > maxGroupTime {
			break
		}
		if _, err := tx.ExecContext(ctx, `SAVEPOINT one`); err != nil {
			return ran, failed, err
		}
		end := `RELEASE one`
		one := w.ctx.Err()
		if one == nil {
			one = w.do(context.WithoutCancel(w.ctx), tx)
		}
		if one != nil {
			end = `ROLLBACK TO one; RELEASE one`
		}
		if _, err := tx.ExecContext(ctx, end); err != nil {
			return ran, failed, fmt.Errorf("end one of %d writes: %w", len(group), err)
		}
		failed = append(failed, one)
		ran++
	}
	return ran, failed, nil
}
