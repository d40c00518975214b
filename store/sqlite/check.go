package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// maxProblems bounds what Check reports: a broken file may have millions.
const maxProblems = 100

// Check looks for everything that must not be: damaged pages, indexes that
// differ from their tables, rows without an owner, counters that count wrong,
// revisions with gaps, spans that do not hold their text, vectors that are not
// of norm 1, and changes of the file while nobody had it open. It returns one sentence for each problem, at most 100 and a last
// one that says so; none means that all is well. The error is about the
// checking itself. It reads the whole file, as of one moment.
func (db *DB) Check(ctx context.Context) ([]string, error) {
	found := problems{all: db.Damage()}
	err := db.read(ctx, "check records", func(tx *sql.Tx) error {
		for _, look := range []func(context.Context, *sql.Tx, *problems) error{checkFile, checkForeignKeys, checkRules, checkVectors, checkSums} {
			if err := look(ctx, tx, &found); err != nil {
				return err
			}
		}
		return nil
	})
	var e *driver.Error
	if errors.As(err, &e) && e.Code()&0xff == codes.SQLITE_CORRUPT {
		found.all = append(found.all, fmt.Sprintf("the database file is damaged: %v", e))
		err = nil
	}
	if errors.Is(err, errStop) {
		err = nil
	}
	return found.all, err
}

// problems collects sentences until there are enough.
type problems struct{ all []string }

// add returns errStop when no more are wanted.
func (p *problems) add(format string, args ...any) error {
	p.all = append(p.all, fmt.Sprintf(format, args...))
	if len(p.all) < maxProblems {
		return nil
	}
	p.all = append(p.all, "and perhaps more: the check stopped here")
	return errStop
}

func checkFile(ctx context.Context, tx *sql.Tx, found *problems) error {
	rows, err := tx.QueryContext(ctx, `PRAGMA integrity_check(100)`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if line == "ok" {
			continue
		}
		if err := found.add("the database file is damaged: %s", line); err != nil {
			return err
		}
	}
	return rows.Err()
}

func checkForeignKeys(ctx context.Context, tx *sql.Tx, found *problems) error {
	rows, err := tx.QueryContext(ctx, `SELECT "table", rowid, parent FROM pragma_foreign_key_check`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table, parent string
		var rowid sql.NullInt64
		if err := rows.Scan(&table, &rowid, &parent); err != nil {
			return err
		}
		if err := found.add("row %d of %s refers to a row of %s that is not there", rowid.Int64, table, parent); err != nil {
			return err
		}
	}
	return rows.Err()
}

// rules are queries that find nothing in a sound database; each row is the
// name of what breaks the rule.
var rules = []struct{ problem, query string }{
	{
		"knowledge base %s does not know how many documents or visible chunks it has",
		`SELECT id FROM knowledge_bases kb
		WHERE document_count <> (SELECT count(*) FROM documents WHERE kb_id = kb.id)
		OR chunk_count <> (SELECT coalesce(sum(chunk_count), 0) FROM documents WHERE kb_id = kb.id)`,
	},
	{
		"document %s does not know how many visible chunks it has",
		`SELECT id FROM documents d WHERE chunk_count <>
		(SELECT count(*) FROM chunks WHERE document = d.key AND revision = d.revision)`,
	},
	{
		"document %s is ready but has no visible revision or no text",
		`SELECT id FROM documents WHERE status = 'ready' AND (revision < 1 OR text_sha256 = '')`,
	},
	{
		// But one whose job failed when its revision was visible already.
		"document %s has failed or was cancelled but can be found",
		`SELECT id FROM documents d WHERE status IN ('failed', 'cancelled') AND revision <> 0
		AND NOT EXISTS (SELECT 1 FROM pending WHERE document = d.key)
		AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.document = d.key AND j.revision = d.revision AND j.status = 'failed' AND d.status = 'failed')`,
	},
	{
		"document %s is ready but has a revision that is not",
		`SELECT d.id FROM documents d JOIN pending p ON p.document = d.key WHERE d.status = 'ready' OR p.revision <> d.latest`,
	},
	{
		"document %s shows a content of which nothing is known",
		`SELECT id FROM documents d WHERE shown_sha256 <> '' AND NOT EXISTS (SELECT 1 FROM pending WHERE document = d.key)`,
	},
	{
		"document %s has no source",
		`SELECT id FROM documents d WHERE NOT EXISTS (SELECT 1 FROM sources WHERE document = d.key)`,
	},
	{
		"source %s stands for a document of another knowledge base",
		`SELECT s.path FROM sources s JOIN documents d ON d.key = s.document WHERE s.kb_id <> d.kb_id`,
	},
	{
		"document %s has revisions that were never begun",
		`SELECT id FROM documents d WHERE latest < revision OR retiring <> 0 AND retiring >= revision
		OR latest < (SELECT coalesce(max(j.revision), 0) FROM jobs j WHERE j.document = d.key)`,
	},
	{
		"document %s waits for a job that is not there",
		`SELECT id FROM documents d WHERE status IN ('queued', 'running')
		AND NOT EXISTS (SELECT 1 FROM jobs WHERE document = d.key AND status = d.status)`,
	},
	{
		"job %s is ready but its revision is not",
		`SELECT j.id FROM jobs j JOIN documents d ON d.key = j.document
		WHERE j.status = 'ready' AND d.revision < j.revision`,
	},
	{
		"document %s has a revision with missing chunks",
		`SELECT d.id FROM chunks c JOIN documents d ON d.key = c.document
		GROUP BY c.document, c.revision HAVING min(c.ordinal) <> 0 OR max(c.ordinal) <> count(*) - 1`,
	},
	{
		"document %s has chunks that are not visible and that no job is making",
		`SELECT d.id FROM (SELECT DISTINCT document, revision FROM chunks) c JOIN documents d ON d.key = c.document
		WHERE c.revision NOT IN (d.revision, d.retiring) AND NOT EXISTS (SELECT 1 FROM jobs j
			WHERE j.document = c.document AND j.revision = c.revision AND j.status IN ('queued', 'running'))`,
	},
	{
		"chunk %s has a span that does not hold its text",
		`SELECT c.id FROM chunks c JOIN documents d ON d.key = c.document
		WHERE c.span_start < 0 OR c.span_end - c.span_start <> octet_length(c.text)
		OR c.revision = d.revision AND c.span_end > d.text_bytes`,
	},
	{
		"run %s has steps missing",
		`SELECT run_id FROM thoughts GROUP BY run_id HAVING min(position) <> 1 OR max(position) <> count(*)`,
	},
}

func checkRules(ctx context.Context, tx *sql.Tx, found *problems) error {
	for _, rule := range rules {
		if err := checkRule(ctx, tx, found, rule.problem, rule.query); err != nil {
			return err
		}
	}
	return nil
}

func checkRule(ctx context.Context, tx *sql.Tx, found *problems, problem, query string) error {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		if err := found.add(problem, name); err != nil {
			return err
		}
	}
	return rows.Err()
}

// checkVectors also sees that a knowledge base does not mix dimensions, which
// no two embedders of one fingerprint have.
func checkVectors(ctx context.Context, tx *sql.Tx, found *problems) error {
	rows, err := tx.QueryContext(ctx, `SELECT c.id, d.kb_id, c.vector FROM chunks c JOIN documents d ON d.key = c.document
		WHERE c.vector IS NOT NULL`)
	if err != nil {
		return err
	}
	defer rows.Close()
	dims := map[string]int{}
	for rows.Next() {
		var id, kb string
		var blob sql.RawBytes
		if err := rows.Scan(&id, &kb, &blob); err != nil {
			return err
		}
		vector, err := decodeVector(blob)
		if err == nil {
			err = checkVector(vector)
		}
		if err == nil && dims[kb] == 0 {
			dims[kb] = len(vector)
		}
		if err == nil && len(vector) != dims[kb] {
			err = fmt.Errorf("it has %d dimensions and others of its knowledge base have %d", len(vector), dims[kb])
		}
		if err == nil {
			continue
		}
		if err := found.add("chunk %s has a bad vector: %v", id, err); err != nil {
			return err
		}
	}
	return rows.Err()
}
