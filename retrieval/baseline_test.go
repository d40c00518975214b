package retrieval_test

import (
	"database/sql"
	"strings"
	"testing"
	"unicode"

	_ "modernc.org/sqlite" // with FTS5

	"ragagent/retrieval/eval"
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
	var ids []string
	insert, err := db.Prepare(`INSERT INTO documents (rowid, text) VALUES (?, ?)`)
	check(t, err)
	for doc, err := range b.data.Corpus().Documents(t.Context()) {
		check(t, err)
		_, err = insert.Exec(len(ids), doc.Title+"\n"+doc.Text)
		check(t, err)
		ids = append(ids, doc.ID)
	}
	find, err := db.Prepare(`SELECT rowid, -bm25(documents) FROM documents WHERE documents MATCH ? ORDER BY bm25(documents), rowid LIMIT 100`)
	check(t, err)
	run := make(eval.Run)
	for _, question := range b.data.Queries {
		words := strings.FieldsFunc(question.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
		if len(words) == 0 {
			continue
		}
		rows, err := find.Query(`"` + strings.Join(words, `" OR "`) + `"`)
		check(t, err)
		for rows.Next() {
			var row int
			var score float64
			check(t, rows.Scan(&row, &score))
			run[question.ID] = append(run[question.ID], eval.Scored{ID: ids[row], Score: score})
		}
		check(t, rows.Err())
	}
	scores, err := eval.Evaluate(b.data.Qrels, run, []eval.Measure{ndcg10})
	check(t, err)
	return scores
}
