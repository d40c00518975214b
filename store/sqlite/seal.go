package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A sealed table has in each row the checksum of its other columns (sum), which
// triggers keep. They are made here from the columns the table has, so that a
// column that a migration adds is covered without a word about it.

// sealedTable is one of them.
type sealedTable struct {
	name string
	// row names a row in a sentence, in SQL.
	row string
	// counted are columns that other tables' triggers keep: what they must be
	// is checked by rules.
	counted []string
}

var sealedTables = []sealedTable{
	{name: "knowledge_bases", row: `'knowledge base ' || id`, counted: []string{"document_count", "chunk_count"}},
	{name: "documents", row: `'document ' || id`},
	{name: "chunks", row: `'chunk ' || id || ' of document ' || (SELECT d.id FROM documents d WHERE d.key = document)`},
	{name: "vectors", row: `'vector ' || space || ' of chunk ' || (SELECT c.id FROM chunks c WHERE c.key = chunk)`},
	{name: "embedder_changes", row: `'change of embedder ' || id`},
	{name: "jobs", row: `'job ' || id`},
	{name: "sources", row: `'source ' || path || ' of document ' || (SELECT d.id FROM documents d WHERE d.key = document)`},
	{name: "pending", row: `'pending revision of document ' || (SELECT d.id FROM documents d WHERE d.key = document)`},
	{name: "addresses", row: `'address ' || url`},
	{name: "fetches", row: `'fetch of job ' || job`},
	{name: "crawl_pages", row: `'page ' || url || ' of job ' || job`},
	{name: "conversations", row: `'conversation ' || id`},
	{name: "messages", row: `'message ' || id`},
	{name: "runs", row: `'run ' || id`},
	{name: "checkpoints", row: `'checkpoint of run ' || run_id`},
	{name: "evaluations", row: `'evaluation ' || id`},
	{name: "evaluation_parts", row: `part || ' of evaluation ' || evaluation_id`},
	{name: "thoughts", row: `'step ' || position || ' of run ' || run_id`},
}

// spoilt is the sum of a row that was found changed when a new sum was due: no
// row has it, so that the damage stays known.
const spoilt = -1

// sealBatch is how many rows are sealed in one transaction: a large database
// is sealed after an upgrade without a large log.
const sealBatch = 2000

// seal brings the triggers and sums of every sealed table up to date with its
// columns. Ended half way, it goes on at the next start.
func (db *DB) seal(ctx context.Context) error {
	for _, t := range sealedTables {
		if err := db.sealTable(ctx, t); err != nil {
			return fmt.Errorf("checksums of %s: %w", t.name, err)
		}
	}
	return nil
}

func (db *DB) sealTable(ctx context.Context, t sealedTable) error {
	columns, err := t.columns(ctx, db.writer)
	if err != nil {
		return err
	}
	var before string
	err = db.writer.QueryRowContext(ctx, `SELECT columns FROM sealed WHERE name = ?`, t.name).Scan(&before)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	now := strings.Join(columns, ",")
	intact, err := db.hasTriggers(ctx, t, columns)
	if err != nil || intact && before == now {
		return err
	}
	if err := db.dropSeal(ctx, t); err != nil {
		return err
	}
	if err := db.sumRows(ctx, t, before, now); err != nil {
		return err
	}
	return db.makeSeal(ctx, t, columns)
}

// columns are those that a sum covers, in the order of the table.
func (t sealedTable) columns(ctx context.Context, pool *sql.DB) ([]string, error) {
	rows, err := pool.QueryContext(ctx, `SELECT name FROM pragma_table_info(?) ORDER BY cid`, t.name)
	columns, err := collect(rows, err, func(row scanner) (name string, err error) {
		err = row.Scan(&name)
		return name, err
	})
	return slices.DeleteFunc(columns, func(name string) bool {
		// The key is where the row lies: what refers to it is checked.
		return name == "sum" || name == "key" || slices.Contains(t.counted, name)
	}), err
}

// dropSeal removes the triggers, which the sums of the next step must not start.
func (db *DB) dropSeal(ctx context.Context, t sealedTable) error {
	for name := range t.triggers(nil) {
		if _, err := db.writer.ExecContext(ctx, `DROP TRIGGER IF EXISTS `+name); err != nil {
			return err
		}
	}
	return nil
}

// sumRows gives every row its sum. A row that has one, over the columns before,
// is compared with it first: damage must not be sealed as if it were right.
func (db *DB) sumRows(ctx context.Context, t sealedTable, before, now string) error {
	valid := fmt.Sprintf(`sum IS NULL OR sum = row_sum(%s)`, now)
	if before != "" && db.hasColumns(ctx, t, before) {
		valid += fmt.Sprintf(` OR sum = row_sum(%s)`, before)
	}
	update := fmt.Sprintf(`UPDATE %s SET sum = CASE WHEN %s THEN row_sum(%s) ELSE %d END WHERE rowid > ?1 AND rowid <= ?2`,
		t.name, valid, now, spoilt)
	next := fmt.Sprintf(`SELECT max(rowid) FROM (SELECT rowid FROM %s WHERE rowid > ? ORDER BY rowid LIMIT %d)`, t.name, sealBatch)
	for after := int64(-1 << 62); ; {
		var last sql.NullInt64
		if err := db.writer.QueryRowContext(ctx, next, after).Scan(&last); err != nil {
			return err
		}
		if !last.Valid {
			return nil
		}
		if _, err := db.writer.ExecContext(ctx, update, after, last.Int64); err != nil {
			return err
		}
		after = last.Int64
	}
}

// hasColumns says whether a table still has the columns of an older sum.
func (db *DB) hasColumns(ctx context.Context, t sealedTable, columns string) bool {
	stmt, err := db.writer.PrepareContext(ctx, `SELECT `+columns+` FROM `+t.name)
	if err != nil {
		return false
	}
	defer stmt.Close()
	return true
}

// triggers are the statements that make them, by name.
func (t sealedTable) triggers(columns []string) map[string]string {
	// A row that is inserted with its sum (sealedInsert) is left as it is.
	given := `WHEN new.sum IS NULL`
	set := fmt.Sprintf(`BEGIN UPDATE %s SET sum = row_sum(new.%s) WHERE rowid = new.rowid; END`, t.name, strings.Join(columns, ", new."))
	insert, update := t.name+`_sealed_insert`, t.name+`_sealed_update`
	return map[string]string{
		insert: fmt.Sprintf(`CREATE TRIGGER %s AFTER INSERT ON %s %s %s`, insert, t.name, given, set),
		// Not of the sum itself: that would be without end.
		update: fmt.Sprintf(`CREATE TRIGGER %s AFTER UPDATE OF %s ON %s %s`, update, strings.Join(columns, ", "), t.name, set),
	}
}

// hasTriggers says whether the triggers are there, and as they should be.
func (db *DB) hasTriggers(ctx context.Context, t sealedTable, columns []string) (bool, error) {
	for name, want := range t.triggers(columns) {
		var have string
		err := db.writer.QueryRowContext(ctx, `SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?`, name).Scan(&have)
		if errors.Is(err, sql.ErrNoRows) || err == nil && have != want {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// makeSeal makes the triggers and writes down what they cover.
func (db *DB) makeSeal(ctx context.Context, t sealedTable, columns []string) error {
	return inTx(ctx, db.writer, nil, func(ctx context.Context, tx *sql.Tx) error {
		for _, statement := range t.triggers(columns) {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO sealed (name, columns) VALUES (?1, ?2)
			ON CONFLICT (name) DO UPDATE SET columns = ?2`, t.name, strings.Join(columns, ","))
		return err
	})
}

// sealedInsert is a statement that inserts a row of the columns, which are
// separated by commas, together with its sum. It saves the second write of a
// trigger, which counts where rows are large and many.
func sealedInsert(ctx context.Context, pool *sql.DB, table, columns string) (string, error) {
	given := strings.FieldsFunc(columns, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	covered, err := sealedTable{name: table}.columns(ctx, pool)
	if err != nil {
		return "", fmt.Errorf("columns of %s: %w", table, err)
	}
	values, summed := make([]string, len(given)), make([]string, len(covered))
	for i := range given {
		values[i] = fmt.Sprintf("?%d", i+1)
	}
	for i, name := range covered {
		at := slices.Index(given, name)
		if at < 0 {
			return "", fmt.Errorf("column %s of %s is not given", name, table)
		}
		summed[i] = values[at]
	}
	return fmt.Sprintf(`INSERT INTO %s (%s, sum) VALUES (%s, row_sum(%s))`, table,
		strings.Join(given, ", "), strings.Join(values, ", "), strings.Join(summed, ", ")), nil
}

// checkSums looks for rows that are not what was written.
func checkSums(ctx context.Context, tx *sql.Tx, found *problems) error {
	for _, t := range sealedTables {
		var columns string
		if err := tx.QueryRowContext(ctx, `SELECT columns FROM sealed WHERE name = ?`, t.name).Scan(&columns); err != nil {
			return err
		}
		query := fmt.Sprintf(`SELECT %s FROM %s WHERE sum IS NOT row_sum(%s)`, t.row, t.name, columns)
		if err := checkRule(ctx, tx, found, "%s is not what was written: its checksum does not fit", query); err != nil {
			return err
		}
	}
	return nil
}
