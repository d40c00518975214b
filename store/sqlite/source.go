package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"ragagent/store"
)

const selectSources = `SELECT s.origin, s.path, d.id, d.sha256, d.status FROM sources s JOIN documents d ON d.key = s.document
	WHERE s.kb_id = ? AND s.origin = ? AND s.path > ? ORDER BY s.path LIMIT ?`

// Sources implements store.Documents.
func (db *DB) Sources(ctx context.Context, kb, origin string, page store.Page) (all []store.SourceState, err error) {
	err = db.read(ctx, "list sources of "+kb, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, selectSources, kb, origin, page.After, page.Size())
		all, err = collect(rows, err, func(row scanner) (s store.SourceState, err error) {
			err = row.Scan(&s.Origin, &s.Path, &s.DocumentID, &s.SHA256, &s.Status)
			return s, err
		})
		return err
	})
	return all, err
}

// RemoveSource implements store.Documents.
func (db *DB) RemoveSource(ctx context.Context, kb, id string, source store.Source) (was store.Document, gone bool, err error) {
	err = db.write(ctx, "remove a source of document "+id, func(ctx context.Context, tx *sql.Tx) error {
		var key int64
		if was, key, err = db.keyedDocument(ctx, tx, kb, id); err != nil {
			return err
		}
		if err := changed(tx.ExecContext(ctx, `DELETE FROM sources WHERE kb_id = ? AND origin = ? AND path = ? AND document = ?`,
			was.KnowledgeBaseID, source.Origin, source.Path, key)); err != nil {
			return err
		}
		gone, err = orphaned(ctx, tx, key)
		if err == nil && gone {
			_, err = db.deleteDocument(ctx, tx, kb, id)
		}
		return err
	})
	if err != nil {
		return store.Document{}, false, err
	}
	return was, gone, nil
}

// orphaned says that a document has no source.
func orphaned(ctx context.Context, tx *sql.Tx, key int64) (none bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM sources WHERE document = ?)`, key).Scan(&none)
	return none, err
}

// keeper is the document that a source stands for.
type keeper struct {
	key    int64 // 0: the source is unknown
	id     string
	shared bool // it has other sources too
}

const selectKeeper = `SELECT d.key, d.id, EXISTS (SELECT 1 FROM sources o WHERE o.document = d.key AND o.key <> s.key)
	FROM sources s JOIN documents d ON d.key = s.document WHERE s.kb_id = ? AND s.origin = ? AND s.path = ?`

func (db *DB) keeperOf(ctx context.Context, tx *sql.Tx, kb string, source store.Source) (k keeper, err error) {
	err = rowPrepared(ctx, tx, db.stmts.keeper, kb, source.Origin, source.Path).Scan(&k.key, &k.id, &k.shared)
	if errors.Is(err, sql.ErrNoRows) {
		return keeper{}, nil
	}
	return k, err
}

const assignSource = `INSERT INTO sources (kb_id, origin, path, document) VALUES (?, ?, ?, ?)
	ON CONFLICT (kb_id, origin, path) DO UPDATE SET document = excluded.document`

// assign lets a source stand for a document.
func (db *DB) assign(ctx context.Context, tx *sql.Tx, kb string, source store.Source, document int64) error {
	return execPrepared(ctx, tx, db.stmts.assign, kb, source.Origin, source.Path, document)
}
