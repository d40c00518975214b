package sqlite

import (
	"path/filepath"
	"strings"
	"testing"
)

// Streams and look-ups must walk indexes: a sort would hold a whole knowledge
// base in memory before its first row, a scan would read every chunk for one.
func TestQueriesWalkIndexes(t *testing.T) {
	db, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "plan.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for name, query := range map[string]string{
		"visible chunks":             selectVisible,
		"visible chunks of document": selectVisibleDocument,
		"visible documents":          selectVisibleDocuments,
		"visible vectors":            selectVisibleVectors,
		"document":                   selectDocument,
		"visible window":             `SELECT ` + chunkColumns + ` FROM` + visibleChunks + `WHERE d.id = ? AND c.ordinal >= ? ORDER BY c.ordinal LIMIT ?`,
		"chunks of a revision":       `DELETE FROM chunks WHERE document = ? AND revision = ?`,
		"next queued":                `SELECT turn, id FROM jobs WHERE status = 'queued' AND NOT ` + waitsForFetch + ` ORDER BY turn, id LIMIT 1`,
		"lowest turn":                `SELECT min(turn) FROM jobs WHERE status = 'queued'`,
		"jobs by status":             `SELECT ` + jobColumns + fromJobs + `WHERE j.status = ? AND j.id > ? ORDER BY j.id LIMIT ?`,
		"latest messages":            `SELECT ` + messageColumns + ` FROM messages WHERE conversation_id = ? ORDER BY key DESC LIMIT ?`,
		"documents of a page":        `SELECT ` + documentColumns + fromDocuments + `WHERE d.kb_id = ? AND d.id > ? ORDER BY d.id LIMIT ?`,
		"sources of an origin":       selectSources,
		"users of a blob":            selectBlobInUse,
		"unused blobs":               selectUnusedBlobs,
		"jobs of a document":         `SELECT id FROM jobs WHERE document = ? AND status IN ('queued', 'running')`,
	} {
		args := make([]any, strings.Count(strings.ReplaceAll(query, "?2 = ''", ""), "?"))
		rows, err := db.readers.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+query, args...)
		steps, err := collect(rows, err, func(row scanner) (detail string, err error) {
			var id, parent, unused int
			err = row.Scan(&id, &parent, &unused, &detail)
			return detail, err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			if step == "SCAN first" || strings.HasPrefix(step, "SCAN wanted") || strings.HasPrefix(step, "SCAN CONSTANT ROW") {
				continue // the few sources of one document; what was asked for; no table at all
			}
			if strings.HasPrefix(step, "SCAN") || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s: %s", name, step)
			}
		}
		if len(steps) == 0 {
			t.Errorf("%s: no plan", name)
		}
	}
}
