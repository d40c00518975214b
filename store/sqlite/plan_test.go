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
	first, second := space{}, space{number: 7}
	for name, query := range map[string]string{
		"visible chunks":             selectVisible,
		"visible chunks of document": selectVisibleDocument,
		"visible documents":          selectVisibleDocuments,
		"visible vectors":            selectVisibleVectors,
		"document":                   selectDocument,
		"visible window":             `SELECT ` + chunkColumns + ` FROM` + visibleChunks + `WHERE d.id = ? AND c.ordinal >= ? ORDER BY c.ordinal LIMIT ?`,
		"chunks of a revision":       `DELETE FROM chunks WHERE document = ? AND revision = ?`,
		"next queued":                `SELECT turn, id FROM jobs WHERE status = 'queued' AND lease_until <= ?1 AND NOT ` + waitsForFetch + ` ORDER BY turn, id LIMIT 1`,
		"lowest turn":                `SELECT min(turn) FROM jobs WHERE status = 'queued'`,
		"jobs by status":             `SELECT ` + jobColumns + fromJobs + `WHERE j.status = ? AND j.id > ? ORDER BY j.id LIMIT ?`,
		"latest messages":            `SELECT ` + messageColumns + ` FROM messages WHERE conversation_id = ? ORDER BY key DESC LIMIT ?`,
		"documents of a page":        `SELECT ` + documentColumns + fromDocuments + `WHERE d.kb_id = ? AND d.id > ? ORDER BY d.id LIMIT ?`,
		"sources of an origin":       selectSources,
		"users of a blob":            selectBlobInUse,
		"unused blobs":               selectUnusedBlobs,
		"jobs of a document":         `SELECT id FROM jobs WHERE document = ? AND status IN ('queued', 'running')`,
		"rest of a document lacking": first.lacks(selectMissingWithin),
		"documents behind lacking":   second.lacks(selectMissingBehind),
		"how many lack":              second.lacks(countMissing),
		"vectors of a second set":    second.reads(selectVisibleVectors),
		"rest of what is cleared":    selectToClearWithin,
		"documents to be cleared":    selectToClearBehind,
		"cleared in chunks":          clearInChunks,
		"cleared in vectors":         clearInVectors,
		"few: deletions to be swept": selectDropped,
		"the last of them":           selectLastDropped,
		"target of a job":            selectTarget,
		"few: current job":           selectCurrentJob,
		"who keeps a source":         selectKeeper,
		"same content":               `SELECT id, key FROM documents WHERE kb_id = ? AND sha256 = ?`,
		"few: listed documents":      selectListedDocuments,
		"deleted chunks":             deletesOfDocuments[0],
		"deleted jobs":               deletesOfDocuments[1],
		"deleted documents":          deletesOfDocuments[2],
		"a URL":                      selectAddress + `WHERE a.kb_id = ? AND a.url = ?`,
		"the URL that is due":        selectAddress + `WHERE ` + whereDue,
		"few: pages of a crawl":      `SELECT url, depth, state, content FROM crawl_pages WHERE job = ? ORDER BY key`,
		"a fetch to be made":         selectFetch,
		"superseded jobs":            `UPDATE jobs SET status = 'cancelled' WHERE document = ?1 AND status IN ('queued', 'running')`,
		"queued but for fetches":     `SELECT id FROM jobs WHERE status = 'queued' AND NOT ` + waitsForFetch + ` ORDER BY id LIMIT 1`,
		"change of a base":           `SELECT ` + changeColumns + ` FROM embedder_changes WHERE kb_id = ? AND state <> 'discarding'`,
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
			switch {
			case step == "SCAN first", step == "SCAN swept": // the few sources of one document; one row
				continue
			case strings.HasPrefix(step, "SCAN wanted"), strings.HasPrefix(step, "SCAN json_each"): // what was asked for
				continue
			case strings.HasPrefix(step, "SCAN CONSTANT ROW"): // no table at all
				continue
			case strings.Contains(step, "TEMP B-TREE") && strings.HasPrefix(name, "few: "):
				continue
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
