package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"ragagent/store"
)

const selectListedDocuments = `SELECT d.key, ` + documentColumns + ` FROM json_each(?1) wanted
	CROSS JOIN documents d ON d.id = wanted.value LEFT JOIN pending p ON p.document = d.key
	WHERE d.kb_id = ?2 ORDER BY d.key`

// deletesOfDocuments remove the rows of documents whose keys are listed, one
// kind after the other, in the order of the tables.
var deletesOfDocuments = []string{
	`DELETE FROM chunks WHERE document IN (SELECT value FROM json_each(?))`,
	`DELETE FROM jobs WHERE document IN (SELECT value FROM json_each(?))`,
	`DELETE FROM documents WHERE key IN (SELECT value FROM json_each(?))`,
}

// DeleteDocuments implements store.Documents.
func (db *DB) DeleteDocuments(ctx context.Context, kb string, ids []string) (gone []store.Document, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	wanted, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	err = db.write(ctx, fmt.Sprintf("delete %d documents", len(ids)), func(ctx context.Context, tx *sql.Tx) error {
		var keys []int64
		rows, err := tx.QueryContext(ctx, selectListedDocuments, string(wanted), kb)
		gone, err = collect(rows, err, func(row scanner) (store.Document, error) {
			var key int64
			d, err := scanDocument(scanBefore{row, &key})
			keys = append(keys, key) // twice, if an id is given twice
			return d, err
		})
		if err != nil {
			return err
		}
		listed, err := json.Marshal(keys)
		if err != nil {
			return err
		}
		for _, remove := range deletesOfDocuments {
			if _, err := tx.ExecContext(ctx, remove, string(listed)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.CompactFunc(gone, func(a, b store.Document) bool { return a.ID == b.ID }), nil
}
