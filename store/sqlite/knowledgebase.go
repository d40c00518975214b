package sqlite

import (
	"context"
	"database/sql"

	"ragagent/store"
)

const knowledgeBaseColumns = `id, name, description, embedder, fingerprint, dimension, chunking, retrieval,
	created_at, updated_at, document_count, chunk_count`

// An id goes before a name that looks like it.
const selectKnowledgeBase = `SELECT ` + knowledgeBaseColumns + ` FROM knowledge_bases
	WHERE id = ?1 OR name = ?1 ORDER BY id = ?1 DESC LIMIT 1`

func scanKnowledgeBase(row scanner) (kb store.KnowledgeBase, err error) {
	err = row.Scan(&kb.ID, &kb.Name, &kb.Description, &kb.Embedder, &kb.Fingerprint, integer{&kb.Dimension},
		jsonValue{&kb.Chunking}, jsonValue{&kb.Retrieval},
		timestamp{&kb.CreatedAt}, timestamp{&kb.UpdatedAt}, &kb.DocumentCount, &kb.ChunkCount)
	return kb, err
}

// CreateKnowledgeBase implements store.KnowledgeBases.
func (db *DB) CreateKnowledgeBase(ctx context.Context, kb store.KnowledgeBase) error {
	if err := checkNamed(kb.ID, kb.Name); err != nil {
		return err
	}
	return db.write(ctx, "create knowledge base "+kb.Name, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO knowledge_bases
			(id, name, description, embedder, fingerprint, dimension, chunking, retrieval, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			kb.ID, kb.Name, kb.Description, kb.Embedder, kb.Fingerprint, kb.Dimension,
			jsonValue{&kb.Chunking}, jsonValue{&kb.Retrieval}, timestamp{&kb.CreatedAt}, timestamp{&kb.UpdatedAt})
		return err
	})
}

// KnowledgeBase implements store.KnowledgeBases.
func (db *DB) KnowledgeBase(ctx context.Context, idOrName string) (kb store.KnowledgeBase, err error) {
	kb, err = scanKnowledgeBase(db.stmts.knowledgeBase.QueryRowContext(ctx, idOrName))
	return kb, failure("knowledge base "+idOrName, err)
}

// KnowledgeBases implements store.KnowledgeBases.
func (db *DB) KnowledgeBases(ctx context.Context, page store.Page) (all []store.KnowledgeBase, err error) {
	err = db.read(ctx, "list knowledge bases", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+knowledgeBaseColumns+` FROM knowledge_bases
			WHERE id > ? ORDER BY id LIMIT ?`, page.After, page.Size())
		all, err = collect(rows, err, scanKnowledgeBase)
		return err
	})
	return all, err
}

// UpdateKnowledgeBase implements store.KnowledgeBases.
func (db *DB) UpdateKnowledgeBase(ctx context.Context, idOrName string, change func(*store.KnowledgeBase) error) (kb store.KnowledgeBase, err error) {
	err = db.write(ctx, "update knowledge base "+idOrName, func(ctx context.Context, tx *sql.Tx) error {
		kb, err = scanKnowledgeBase(tx.QueryRowContext(ctx, selectKnowledgeBase, idOrName))
		if err != nil {
			return err
		}
		edited := kb
		if err := change(&edited); err != nil {
			return err
		}
		// What is not copied stays: the stored vectors are the old embedder's.
		kb.Name, kb.Description, kb.UpdatedAt = edited.Name, edited.Description, edited.UpdatedAt
		kb.Chunking, kb.Retrieval = edited.Chunking, edited.Retrieval
		if err := checkNamed(kb.ID, kb.Name); err != nil {
			return err
		}
		return changed(tx.ExecContext(ctx, `UPDATE knowledge_bases
			SET name = ?, description = ?, chunking = ?, retrieval = ?, updated_at = ? WHERE id = ?`,
			kb.Name, kb.Description, jsonValue{&kb.Chunking}, jsonValue{&kb.Retrieval},
			timestamp{&kb.UpdatedAt}, kb.ID))
	})
	return kb, err
}

// DeleteKnowledgeBase implements store.KnowledgeBases.
func (db *DB) DeleteKnowledgeBase(ctx context.Context, id string) error {
	return db.write(ctx, "delete knowledge base "+id, func(ctx context.Context, tx *sql.Tx) error {
		return changed(tx.ExecContext(ctx, `DELETE FROM knowledge_bases WHERE id = ?`, id))
	})
}

func checkNamed(id, name string) error {
	if id == "" {
		return store.Invalid("id", "it is empty")
	}
	if len(name) == 0 || len(name) > store.MaxName {
		return store.Invalid("name", "it has %d bytes, not 1..%d", len(name), store.MaxName)
	}
	return nil
}
