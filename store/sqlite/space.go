package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"ragagent/store"
)

// space is a set of vectors of a knowledge base; see 0040_vector_spaces.sql.
type space struct {
	number      int64 // 0: the vectors in chunks
	fingerprint string
	dimension   int
}

// spaceOf is the set that is searched.
func spaceOf(ctx context.Context, tx *sql.Tx, kb string) (s space, err error) {
	err = tx.QueryRowContext(ctx, `SELECT space, fingerprint, dimension FROM knowledge_bases WHERE id = ?`, kb).
		Scan(&s.number, &s.fingerprint, &s.dimension)
	return s, err
}

// orNothing lets a knowledge base that is not there be an empty one, as for
// every listing.
func orNothing(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// reads turns a query over the vectors in chunks into one over this set.
func (s space) reads(query string) string {
	if s.number == 0 {
		return query
	}
	query = strings.ReplaceAll(query, "c.vector", "v.vector")
	return strings.Replace(query, visibleChunks, visibleChunks+
		fmt.Sprintf(`LEFT JOIN vectors v ON v.chunk = c.key AND v.space = %d `, s.number), 1)
}

// takes is nil for a chunk whose vector belongs among those of the set.
func (s space) takes(c *store.Chunk) error {
	switch {
	case c.Fingerprint != "" && c.Fingerprint != s.fingerprint:
		return fmt.Errorf("%w: %s, not %s", store.ErrOtherEmbedder, c.Fingerprint, s.fingerprint)
	case c.Vector == nil:
		return nil
	case s.dimension != 0 && len(c.Vector) != s.dimension:
		return &store.DimensionError{Want: s.dimension, Got: len(c.Vector)}
	}
	return nil
}

// put stores the encoded vector of a chunk that was just inserted.
func (s space) put(ctx context.Context, tx *sql.Tx, chunk sql.Result, vector []byte) error {
	key, err := chunk.LastInsertId()
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO vectors (chunk, space, vector) VALUES (?, ?, ?)`, key, s.number, someBytes(vector))
	return err
}

// someBytes keeps an empty vector from being stored as NULL.
func someBytes(vector []byte) []byte {
	if vector == nil {
		return []byte{}
	}
	return vector
}
