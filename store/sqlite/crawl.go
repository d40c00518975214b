package sqlite

import (
	"context"
	"database/sql"

	"ragagent/store"
)

// States of a row of crawl_pages.
const (
	pageWaits = iota
	pageAsked
	pageKept
)

// PutCrawlPages implements store.Addresses.
func (db *DB) PutCrawlPages(ctx context.Context, jobID string, asked store.CrawlPage, found []store.CrawlPage) error {
	return db.write(ctx, "record pages of job "+jobID, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := db.runningTarget(ctx, tx, jobID); err != nil {
			return err
		}
		state := pageAsked
		if asked.Kept {
			state = pageKept
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO crawl_pages (job, url, depth, state, content) VALUES (?1, ?2, ?3, ?4, ?5)
			ON CONFLICT (job, url) DO UPDATE SET state = ?4, content = ?5`, jobID, asked.URL, asked.Depth, state, asked.Content); err != nil {
			return err
		}
		insert, err := tx.PrepareContext(ctx, `INSERT INTO crawl_pages (job, url, depth, state, content) VALUES (?, ?, ?, 0, '')
			ON CONFLICT (job, url) DO NOTHING`)
		if err != nil {
			return err
		}
		defer insert.Close()
		for _, p := range found {
			if _, err := insert.ExecContext(ctx, jobID, p.URL, p.Depth); err != nil {
				return err
			}
		}
		return nil
	})
}

// CrawlPages implements store.Addresses.
func (db *DB) CrawlPages(ctx context.Context, jobID string) (all []store.CrawlPage, err error) {
	err = db.read(ctx, "pages of job "+jobID, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT url, depth, state, content FROM crawl_pages WHERE job = ? ORDER BY key`, jobID)
		all, err = collect(rows, err, func(row scanner) (p store.CrawlPage, err error) {
			var state int
			err = row.Scan(&p.URL, &p.Depth, &state, &p.Content)
			p.Asked, p.Kept = state != pageWaits, state == pageKept
			return p, err
		})
		return err
	})
	return all, err
}

// EndCrawl implements store.Addresses.
func (db *DB) EndCrawl(ctx context.Context, jobID string) error {
	return db.write(ctx, "end the crawl of job "+jobID, func(ctx context.Context, tx *sql.Tx) error {
		t, err := db.runningTarget(ctx, tx, jobID)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE fetches SET kind = 'fetch', not_before = 0 WHERE job = ?`, jobID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM crawl_pages WHERE job = ?`, jobID); err != nil {
			return err
		}
		return db.queueAgain(ctx, tx, t, jobID, "", true)
	})
}
