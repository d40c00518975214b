package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"strings"

	"ragagent/store"
)

const changeColumns = `id, kb_id, state, embedder, fingerprint, dimension, auto, compare, questions, comparison,
	done, total, error, created_at, updated_at`

func scanChange(row scanner) (c store.EmbedderChange, err error) {
	err = row.Scan(&c.ID, &c.KnowledgeBaseID, &c.State, &c.Embedder, &c.Fingerprint, integer{&c.Dimension}, &c.Auto, &c.Compare,
		jsonValue{&c.Questions}, jsonValue{&c.Comparison}, integer{&c.Done}, integer{&c.Total}, &c.Error,
		timestamp{&c.CreatedAt}, timestamp{&c.UpdatedAt})
	return c, err
}

// BeginEmbedderChange implements store.EmbedderChanges.
func (db *DB) BeginEmbedderChange(ctx context.Context, c store.EmbedderChange) error {
	return db.write(ctx, "change the embedder of "+c.KnowledgeBaseID, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE embedder_changes SET state = 'discarding' WHERE kb_id = ? AND state = 'switched'`,
			c.KnowledgeBaseID); err != nil {
			return err
		}
		row, err := tx.ExecContext(ctx, `INSERT INTO embedder_changes (id, kb_id, state, space, embedder, fingerprint, dimension,
			auto, compare, questions, comparison, done, total, error, created_at, updated_at)
			VALUES (?, ?, 'filling', 0, ?, ?, ?, ?, ?, ?, 'null', 0, 0, '', ?, ?)`,
			c.ID, c.KnowledgeBaseID, c.Embedder, c.Fingerprint, c.Dimension, c.Auto, c.Compare, jsonValue{&c.Questions},
			timestamp{&c.CreatedAt}, timestamp{&c.UpdatedAt})
		if err != nil {
			return err
		}
		key, err := row.LastInsertId()
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE embedder_changes SET space = key WHERE key = ?`, key)
		return err
	})
}

// EmbedderChange implements store.EmbedderChanges.
func (db *DB) EmbedderChange(ctx context.Context, kb string) (c store.EmbedderChange, err error) {
	err = db.read(ctx, "change of the embedder of "+kb, func(tx *sql.Tx) error {
		c, err = scanChange(tx.QueryRowContext(ctx, `SELECT `+changeColumns+` FROM embedder_changes
			WHERE kb_id = ? AND state <> 'discarding'`, kb))
		return err
	})
	return c, err
}

// EmbedderChanges implements store.EmbedderChanges.
func (db *DB) EmbedderChanges(ctx context.Context) (all []store.EmbedderChange, err error) {
	err = db.read(ctx, "list changes of embedders", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+changeColumns+` FROM embedder_changes ORDER BY key`)
		all, err = collect(rows, err, scanChange)
		return err
	})
	return all, err
}

// UpdateEmbedderChange implements store.EmbedderChanges.
func (db *DB) UpdateEmbedderChange(ctx context.Context, id string, edit func(*store.EmbedderChange) error) (c store.EmbedderChange, err error) {
	err = db.write(ctx, "change of embedder "+id, func(ctx context.Context, tx *sql.Tx) error {
		c, err = scanChange(tx.QueryRowContext(ctx, `SELECT `+changeColumns+` FROM embedder_changes WHERE id = ?`, id))
		if err != nil {
			return err
		}
		edited := c
		if err := edit(&edited); err != nil {
			return err
		}
		c.State, c.Done, c.Total, c.Error = edited.State, edited.Done, edited.Total, edited.Error
		c.Comparison, c.Auto, c.UpdatedAt = edited.Comparison, edited.Auto, db.now()
		return changed(tx.ExecContext(ctx, `UPDATE embedder_changes
			SET state = ?, done = ?, total = ?, error = ?, comparison = ?, auto = ?, updated_at = ? WHERE id = ?`,
			c.State, c.Done, c.Total, c.Error, jsonValue{&c.Comparison}, c.Auto, timestamp{&c.UpdatedAt}, id))
	})
	return c, err
}

// second is the set of a change.
type second struct {
	space
	kb    string
	state store.ChangeState
}

func secondOf(ctx context.Context, tx *sql.Tx, id string) (s second, err error) {
	err = tx.QueryRowContext(ctx, `SELECT kb_id, state, space, fingerprint, dimension FROM embedder_changes WHERE id = ?`, id).
		Scan(&s.kb, &s.state, &s.number, &s.fingerprint, &s.dimension)
	return s, err
}

// The rest of one document, and the documents behind it: as one condition they
// would be looked for from the document's first chunk on, batch after batch.
const (
	selectMissingWithin = `SELECT ` + chunkColumns + ` FROM` + visibleChunks + `WHERE d.kb_id = ?1 AND d.id = ?2 AND c.ordinal > ?3
		AND lacking(c) ORDER BY c.ordinal LIMIT ?4`
	selectMissingBehind = `SELECT ` + chunkColumns + ` FROM` + visibleChunks + `WHERE d.kb_id = ?1 AND d.id > ?2
		AND lacking(c) ORDER BY d.id, c.ordinal LIMIT ?3`
	countMissing = `SELECT count(*) FROM` + visibleChunks + `WHERE d.kb_id = ? AND lacking(c)`
)

// lacks completes a query: lacking(c) is true of a chunk that the set has
// nothing of, not even that there is no vector.
func (s space) lacks(query string) string {
	condition := `c.vector IS NULL`
	if s.number != 0 {
		condition = fmt.Sprintf(`NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk = c.key AND v.space = %d)`, s.number)
	}
	return strings.Replace(query, `lacking(c)`, condition, 1)
}

// MissingVectors implements store.EmbedderChanges.
func (db *DB) MissingVectors(ctx context.Context, id, document string, after store.Place, limit int) (all []store.Chunk, err error) {
	if after.DocumentID == "" {
		after = store.Place{DocumentID: document, Ordinal: -1}
	}
	err = db.read(ctx, "missing vectors of "+id, func(tx *sql.Tx) error {
		s, err := secondOf(ctx, tx, id)
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, s.lacks(selectMissingWithin), s.kb, after.DocumentID, after.Ordinal, limit)
		if all, err = collect(rows, err, scanChunk); err != nil || document != "" || len(all) == limit {
			return err
		}
		rows, err = tx.QueryContext(ctx, s.lacks(selectMissingBehind), s.kb, after.DocumentID, limit-len(all))
		more, err := collect(rows, err, scanChunk)
		all = append(all, more...)
		return err
	})
	return all, err
}

// CountMissing implements store.EmbedderChanges.
func (db *DB) CountMissing(ctx context.Context, id string) (missing, visible int, err error) {
	err = db.read(ctx, "count missing vectors of "+id, func(tx *sql.Tx) error {
		s, err := secondOf(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, `SELECT chunk_count FROM knowledge_bases WHERE id = ?`, s.kb).Scan(&visible); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, s.lacks(countMissing), s.kb).Scan(&missing)
	})
	return missing, visible, err
}

// PutVectors implements store.EmbedderChanges.
func (db *DB) PutVectors(ctx context.Context, id string, entries []store.VectorEntry, done, total int) error {
	return db.write(ctx, fmt.Sprintf("store %d vectors of %s", len(entries), id), func(ctx context.Context, tx *sql.Tx) error {
		s, err := secondOf(ctx, tx, id)
		if err != nil {
			return err
		}
		if s.state == store.ChangeDiscarding {
			return fmt.Errorf("%w: the change is being discarded", store.ErrConflict)
		}
		query := `INSERT INTO vectors (chunk, space, vector) SELECT c.key, ?2, ?3 FROM chunks c WHERE c.id = ?1 ON CONFLICT DO NOTHING`
		if s.number == 0 {
			query = `UPDATE chunks SET vector = ?3 WHERE id = ?1 AND ?2 = 0 AND vector IS NULL`
		}
		put, err := tx.PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		defer put.Close()
		for _, e := range entries {
			if err := s.takes(&store.Chunk{Vector: e.Vector}); err != nil {
				return fmt.Errorf("chunk %s: %w", e.ID, err)
			}
			if err := checkVector(e.Vector); err != nil {
				return fmt.Errorf("chunk %s: %w", e.ID, err)
			}
			if _, err := put.ExecContext(ctx, e.ID, s.number, someBytes(encodeVector(nil, e.Vector))); err != nil {
				return err
			}
		}
		now := db.now()
		_, err = tx.ExecContext(ctx, `UPDATE embedder_changes SET done = ?, total = ?, updated_at = ? WHERE id = ?`,
			done, total, timestamp{&now}, id)
		return err
	})
}

// ChangeVectors implements store.EmbedderChanges.
func (db *DB) ChangeVectors(ctx context.Context, id string) iter.Seq2[store.VectorEntry, error] {
	return db.vectorsOf(ctx, "vectors of "+id, func(ctx context.Context, tx *sql.Tx) (string, []any, error) {
		s, err := secondOf(ctx, tx, id)
		return s.reads(selectVisibleVectors), []any{s.kb}, err
	})
}

// SwitchEmbedder implements store.EmbedderChanges.
func (db *DB) SwitchEmbedder(ctx context.Context, id string) (kb store.KnowledgeBase, err error) {
	err = db.write(ctx, "switch the embedder, "+id, func(ctx context.Context, tx *sql.Tx) error {
		s, err := secondOf(ctx, tx, id)
		if err != nil {
			return err
		}
		next := map[store.ChangeState]store.ChangeState{
			store.ChangeReady: store.ChangeSwitched, store.ChangeSwitched: store.ChangeReady,
		}[s.state]
		if next == "" {
			return fmt.Errorf("%w: the change is in state %s", store.ErrConflict, s.state)
		}
		var missing int
		if err := tx.QueryRowContext(ctx, s.lacks(countMissing), s.kb).Scan(&missing); err != nil {
			return err
		}
		if missing > 0 {
			return fmt.Errorf("%w: %d chunks have no vector of %s yet", store.ErrConflict, missing, s.fingerprint)
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM chunks WHERE key IN (SELECT c.key FROM documents d
			JOIN chunks c ON c.document = d.key WHERE d.kb_id = ? AND c.revision <> d.revision)`, s.kb); err != nil {
			return err
		}
		if err := exchange(ctx, tx, id, s.kb, next); err != nil {
			return err
		}
		kb, err = scanKnowledgeBase(tx.QueryRowContext(ctx, selectKnowledgeBase, s.kb))
		return err
	})
	return kb, err
}

// exchange gives the knowledge base what the change has, and the other way
// round.
func exchange(ctx context.Context, tx *sql.Tx, id, kb string, next store.ChangeState) error {
	var old struct {
		embedder string
		space
	}
	const columns = `embedder, fingerprint, dimension, space`
	if err := tx.QueryRowContext(ctx, `SELECT `+columns+` FROM knowledge_bases WHERE id = ?`, kb).
		Scan(&old.embedder, &old.fingerprint, &old.dimension, &old.number); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE knowledge_bases SET (`+columns+`) =
		(SELECT `+columns+` FROM embedder_changes c WHERE c.id = ?1) WHERE id = ?2`, id, kb); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE embedder_changes SET state = ?, embedder = ?, fingerprint = ?, dimension = ?, space = ?, error = ''
		WHERE id = ?`, next, old.embedder, old.fingerprint, old.dimension, old.number, id)
	return err
}

// SampleChunks implements store.EmbedderChanges.
func (db *DB) SampleChunks(ctx context.Context, kb string, n int) (all []store.Chunk, err error) {
	err = db.read(ctx, "sample the chunks of "+kb, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `WITH numbered AS (
				SELECT c.key, row_number() OVER (ORDER BY d.id, c.ordinal) - 1 AS n, count(*) OVER () AS total
				FROM`+visibleChunks+`WHERE d.kb_id = ?1)
			SELECT `+chunkColumns+` FROM numbered JOIN chunks c ON c.key = numbered.key JOIN documents d ON d.key = c.document
			WHERE numbered.n % max(1, (numbered.total + ?2 - 1) / ?2) = 0 ORDER BY numbered.n LIMIT ?2`, kb, n)
		all, err = collect(rows, err, scanChunk)
		return err
	})
	return all, err
}

// changeJob is the job of a change.
func changeJob(ctx context.Context, tx *sql.Tx, id string) (store.Job, error) {
	c, err := scanChange(tx.QueryRowContext(ctx, `SELECT `+changeColumns+` FROM embedder_changes WHERE id = ?`, id))
	return c.Job(), err
}

// withChangeJobs puts the jobs of changes, which are few, among a page of others.
func withChangeJobs(ctx context.Context, tx *sql.Tx, jobs []store.Job, filter store.JobFilter, page store.Page) ([]store.Job, error) {
	if filter.Document != "" {
		return jobs, nil
	}
	rows, err := tx.QueryContext(ctx, `SELECT `+changeColumns+` FROM embedder_changes WHERE id > ? ORDER BY id LIMIT ?`, page.After, page.Size())
	changes, err := collect(rows, err, scanChange)
	if err != nil || len(changes) == 0 {
		return jobs, err
	}
	for _, c := range changes {
		j := c.Job()
		if (filter.Status == "" || j.Status == filter.Status) && (filter.KnowledgeBase == "" || j.KnowledgeBaseID == filter.KnowledgeBase) {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b store.Job) int { return strings.Compare(a.ID, b.ID) })
	return jobs[:min(len(jobs), page.Size())], nil
}
