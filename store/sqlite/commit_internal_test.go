package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// TestWriteThatIsPutBackEnds cancels a write that somebody is at, who then has
// no time left for it: nobody else is there to take the turn.
func TestWriteThatIsPutBackEnds(t *testing.T) {
	db, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "a.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it has served its purpose
	synctest.Test(t, func(t *testing.T) {
		c := newCommitter(db.writer, func() {})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		c.turn <- struct{}{}
		go func() { ended <- c.run(ctx, func(context.Context, *sql.Tx) error { return nil }) }()
		synctest.Wait()
		group := c.waiting // as lead takes it
		c.waiting = nil
		cancel()
		synctest.Wait()
		c.putBack(group)
		<-c.turn
		synctest.Wait()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		default:
			t.Error("the write never ends")
			group[0].end(nil)
		}
	})
}
