package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"ragagent/store"
)

const selectAddress = `SELECT a.kb_id, d.id, a.url, a.final_url, a.etag, a.last_modified, a.fetched_at, a.refresh, a.next_at,
	a.gone_since, a.failures, a.error FROM addresses a JOIN documents d ON d.key = a.document `

func scanAddress(row scanner) (a store.Address, err error) {
	err = row.Scan(&a.KnowledgeBaseID, &a.DocumentID, &a.URL, &a.FinalURL, &a.ETag, &a.LastModified, timestamp{&a.FetchedAt},
		(*int64)(&a.Refresh), timestamp{&a.NextAt}, timestamp{&a.GoneSince}, &a.Failures, &a.Error)
	return a, err
}

// PutAddress implements store.Addresses.
func (db *DB) PutAddress(ctx context.Context, a store.Address) error {
	return db.write(ctx, "record the address of "+a.DocumentID, func(ctx context.Context, tx *sql.Tx) error {
		var key int64
		err := tx.QueryRowContext(ctx, `SELECT key FROM documents WHERE id = ? AND kb_id = ?`, a.DocumentID, a.KnowledgeBaseID).Scan(&key)
		if err != nil {
			return err
		}
		return putAddress(ctx, tx, key, a)
	})
}

func putAddress(ctx context.Context, tx *sql.Tx, document int64, a store.Address) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO addresses (kb_id, url, document, final_url, etag, last_modified, fetched_at,
		refresh, next_at, gone_since, failures, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (kb_id, url) DO UPDATE SET document = excluded.document, final_url = excluded.final_url,
			etag = excluded.etag, last_modified = excluded.last_modified, fetched_at = excluded.fetched_at,
			refresh = excluded.refresh, next_at = excluded.next_at, gone_since = excluded.gone_since,
			failures = excluded.failures, error = excluded.error
		WHERE excluded.fetched_at > 0 OR fetched_at = 0`, // a job may be faster than who ordered it
		a.KnowledgeBaseID, a.URL, document, a.FinalURL, a.ETag, a.LastModified, timestamp{&a.FetchedAt},
		int64(a.Refresh), timestamp{&a.NextAt}, timestamp{&a.GoneSince}, a.Failures, a.Error)
	return err
}

// AddRefreshed implements store.Addresses.
func (db *DB) AddRefreshed(ctx context.Context, doc store.Document, job store.Job, url string) (store.Added, error) {
	return db.addAs(ctx, doc, job, func(ctx context.Context, tx *sql.Tx, doc store.Document, job store.Job, out *store.Added) error {
		a, _, err := keyedAddress(ctx, tx, `a.kb_id = ? AND a.url = ?`, doc.KnowledgeBaseID, url)
		if err != nil {
			return err
		}
		// It may be deleted by this, and its address with it.
		if err := db.add(ctx, tx, doc, job, out); err != nil || out.Document.ID == a.DocumentID {
			return err
		}
		var key int64
		if err := tx.QueryRowContext(ctx, `SELECT key FROM documents WHERE id = ?`, out.Document.ID).Scan(&key); err != nil {
			return err
		}
		return putAddress(ctx, tx, key, a)
	})
}

// Address implements store.Addresses.
func (db *DB) Address(ctx context.Context, kb, url string) (a store.Address, err error) {
	err = db.read(ctx, "address", func(tx *sql.Tx) error {
		a, err = scanAddress(tx.QueryRowContext(ctx, selectAddress+`WHERE a.kb_id = ? AND a.url = ?`, kb, url))
		return err
	})
	return a, err
}

// DocumentAddresses implements store.Addresses.
func (db *DB) DocumentAddresses(ctx context.Context, documents []string) (map[string]store.Address, error) {
	wanted, err := json.Marshal(documents)
	if err != nil {
		return nil, err
	}
	all := map[string]store.Address{}
	err = db.read(ctx, "addresses of documents", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, selectAddress+`WHERE d.id IN (SELECT value FROM json_each(?)) ORDER BY a.url DESC`, string(wanted))
		_, err = collect(rows, err, func(row scanner) (struct{}, error) {
			a, err := scanAddress(row)
			all[a.DocumentID] = a
			return struct{}{}, err
		})
		return err
	})
	return all, err
}

// UpdateAddress implements store.Addresses.
func (db *DB) UpdateAddress(ctx context.Context, kb, url string, change func(*store.Address)) (a store.Address, err error) {
	err = db.write(ctx, "update an address", func(ctx context.Context, tx *sql.Tx) error {
		var key int64
		a, key, err = keyedAddress(ctx, tx, `a.kb_id = ? AND a.url = ?`, kb, url)
		if err != nil {
			return err
		}
		id := a.DocumentID
		change(&a)
		a.KnowledgeBaseID, a.URL, a.DocumentID = kb, url, id
		return putAddress(ctx, tx, key, a)
	})
	return a, err
}

// keyedAddress is an address with the key of its document.
func keyedAddress(ctx context.Context, tx *sql.Tx, where string, args ...any) (a store.Address, document int64, err error) {
	a, err = scanAddress(tx.QueryRowContext(ctx, selectAddress+`WHERE `+where, args...))
	if err != nil {
		return a, 0, err
	}
	err = tx.QueryRowContext(ctx, `SELECT key FROM documents WHERE id = ?`, a.DocumentID).Scan(&document)
	return a, document, err
}

const whereDue = `a.next_at > 0 AND a.next_at <= ? AND a.fetched_at > 0 ORDER BY a.next_at LIMIT 1`

// DueAddress implements store.Addresses.
func (db *DB) DueAddress(ctx context.Context, now, hold time.Time) (a store.Address, err error) {
	// Mostly nothing is due: that is seen without a write.
	err = db.read(ctx, "look for an address that is due", func(tx *sql.Tx) error {
		_, _, err := keyedAddress(ctx, tx, whereDue, timestamp{&now})
		return err
	})
	if err != nil {
		return a, err
	}
	err = db.write(ctx, "take an address", func(ctx context.Context, tx *sql.Tx) error {
		var key int64
		if a, key, err = keyedAddress(ctx, tx, whereDue, timestamp{&now}); err != nil {
			return err
		}
		a.NextAt = hold
		return putAddress(ctx, tx, key, a)
	})
	return a, err
}
