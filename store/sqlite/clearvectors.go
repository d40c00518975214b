package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"ragagent/store"
)

// clearBatch is how many chunks are looked at in one transaction: others write
// between two of them.
const clearBatch = 500

// cleared is the last chunk, of any revision, whose vector is gone.
type cleared struct {
	document          string
	revision, ordinal int
	key               int64
}

// They walk indexes only, whatever the chunks hold: the rest of one document,
// and the documents behind it.
const (
	selectToClearWithin = `SELECT d.id, c.revision, c.ordinal, c.key FROM documents d JOIN chunks c ON c.document = d.key
		WHERE d.kb_id = ?1 AND d.id = ?2 AND (c.revision, c.ordinal) > (?3, ?4) ORDER BY c.revision, c.ordinal LIMIT ?5`
	selectToClearBehind = `SELECT d.id, c.revision, c.ordinal, c.key FROM documents d JOIN chunks c ON c.document = d.key
		WHERE d.kb_id = ?1 AND d.id > ?2 ORDER BY d.id, c.revision, c.ordinal LIMIT ?3`
)

// ClearVectors implements store.EmbedderChanges. Nothing comes into the set of
// a change that is being discarded, so one walk over the chunks meets them all.
func (db *DB) ClearVectors(ctx context.Context, id string) error {
	var at cleared
	for more := true; more; {
		next := at // the transaction may be run again
		err := db.write(ctx, "remove the vectors of "+id, func(ctx context.Context, tx *sql.Tx) error {
			s, err := secondOf(ctx, tx, id)
			if err != nil {
				return err
			}
			if s.state != store.ChangeDiscarding {
				return fmt.Errorf("%w: the change is in state %s", store.ErrConflict, s.state)
			}
			batch, err := s.toClear(ctx, tx, at)
			if err != nil {
				return err
			}
			if more = len(batch) > 0; !more {
				_, err = tx.ExecContext(ctx, `DELETE FROM embedder_changes WHERE id = ?`, id)
				return err
			}
			next = batch[len(batch)-1]
			return s.clear(ctx, tx, batch)
		})
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

func (s second) toClear(ctx context.Context, tx *sql.Tx, after cleared) ([]cleared, error) {
	scan := func(row scanner) (c cleared, err error) {
		err = row.Scan(&c.document, &c.revision, &c.ordinal, &c.key)
		return c, err
	}
	rows, err := tx.QueryContext(ctx, selectToClearWithin, s.kb, after.document, after.revision, after.ordinal, clearBatch)
	batch, err := collect(rows, err, scan)
	if err != nil || len(batch) == clearBatch {
		return batch, err
	}
	rows, err = tx.QueryContext(ctx, selectToClearBehind, s.kb, after.document, clearBatch-len(batch))
	more, err := collect(rows, err, scan)
	return append(batch, more...), err
}

const (
	clearInChunks  = `UPDATE chunks SET vector = NULL WHERE key IN (SELECT value FROM json_each(?2)) AND vector IS NOT NULL AND ?1 = 0`
	clearInVectors = `DELETE FROM vectors WHERE chunk IN (SELECT value FROM json_each(?2)) AND space = ?1`
)

func (s second) clear(ctx context.Context, tx *sql.Tx, batch []cleared) error {
	keys := make([]int64, len(batch))
	for i, c := range batch {
		keys[i] = c.key
	}
	listed, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	query := clearInVectors
	if s.number == 0 {
		query = clearInChunks
	}
	_, err = tx.ExecContext(ctx, query, s.number, string(listed))
	return err
}
