package retrieval_test

import (
	"database/sql"
	"strings"
	"testing"
	"unicode"

	"ragagent/retrieval/eval"
	_ "ragagent/store/sqlite" // the driver, with FTS5
)

// fts5 ranks by SQLite's FTS5 as it comes: its bm25() over title and text in one
// column, Porter's stemmer on Unicode words without diacritics, any word of the
// question. Its words have no characters (CJK), so it says nothing there.
func (b *bench) fts5(t testing.TB) eval.Scores {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	check(t, err)
	defer func() { check(t, db.Close()) }()
	db.SetMaxOpenConns(1) // each would have a memory of its own
	_, err = db.Exec(`CREATE VIRTUAL TABLE documents USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')`)
	check(t, err)
	ids := b.insert(t, db)
	find, err := db.Prepare(`SELECT rowid, -bm25(documents) FROM documents WHERE documents MATCH ? ORDER BY bm25(documents), rowid LIMIT 100`)
	check(t, err)
	defer func() { check(t, find.Close()) }()
	run := make(eval.Run)
	for _, question := range b.data.Queries {
		words := strings.FieldsFunc(question.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
		if len(words) > 0 {
			run[question.ID] = matches(t, find, ids, `"`+strings.Join(words, `" OR "`)+`"`)
		}
	}
	scores, err := eval.Evaluate(b.data.Qrels, run, []eval.Measure{ndcg10})
	check(t, err)
	return scores
}

// insert fills the table and returns the ids of its rows, from 0.
func (b *bench) insert(t testing.TB, db *sql.DB) (ids []string) {
	t.Helper()
	insert, err := db.Prepare(`INSERT INTO documents (rowid, text) VALUES (?, ?)`)
	check(t, err)
	defer func() { check(t, insert.Close()) }()
	for doc, err := range b.data.Corpus().Documents(t.Context()) {
		check(t, err)
		_, err = insert.Exec(len(ids), doc.Title+"\n"+doc.Text)
		check(t, err)
		ids = append(ids, doc.ID)
	}
	return ids
}

func matches(t testing.TB, find *sql.Stmt, ids []string, question string) (ranking []eval.Scored) {
	t.Helper()
	rows, err := find.Query(question)
	check(t, err)
	defer func() { check(t, rows.Close()) }()
	for rows.Next() {
		var row int
		var score float64
		check(t, rows.Scan(&row, &score))
		ranking = append(ranking, eval.Scored{ID: ids[row], Score: score})
	}
	check(t, rows.Err())
	return ranking
}
