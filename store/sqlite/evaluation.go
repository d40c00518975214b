package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"ragagent/store"
)

const evaluationColumns = `id, name, knowledge_bases, status, error, done, total, attempts, figures, warnings,
	created_at, started_at, updated_at`

func scanEvaluation(row scanner) (e store.Evaluation, err error) {
	err = row.Scan(&e.ID, &e.Name, stringList{&e.KnowledgeBases}, &e.Status, &e.Error, integer{&e.Done}, integer{&e.Total},
		integer{&e.Attempts}, jsonValue{&e.Figures}, stringList{&e.Warnings},
		timestamp{&e.CreatedAt}, timestamp{&e.StartedAt}, timestamp{&e.UpdatedAt})
	if string(e.Figures) == "null" {
		e.Figures = nil
	}
	return e, err
}

// AddEvaluation implements store.Evaluations.
func (db *DB) AddEvaluation(ctx context.Context, e store.Evaluation, request []byte) error {
	if e.ID == "" {
		return store.Invalid("evaluation.id", "it is empty")
	}
	return db.write(ctx, "add evaluation "+e.ID, func(ctx context.Context, tx *sql.Tx) error {
		var there int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM evaluations`).Scan(&there); err != nil {
			return err
		}
		if there >= store.MaxEvaluations {
			return fmt.Errorf("%w: %d evaluations are kept already", store.ErrTooLarge, there)
		}
		figures := figuresOf(e)
		_, err := tx.ExecContext(ctx, `INSERT INTO evaluations (`+evaluationColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			e.ID, e.Name, stringList{&e.KnowledgeBases}, e.Status, e.Error, e.Done, e.Total, e.Attempts, jsonValue{&figures},
			stringList{&e.Warnings}, timestamp{&e.CreatedAt}, timestamp{&e.StartedAt}, timestamp{&e.UpdatedAt})
		if err != nil {
			return err
		}
		return putPart(ctx, tx, e.ID, store.EvaluationRequest, request)
	})
}

// figuresOf is what is stored: no figures are null.
func figuresOf(e store.Evaluation) json.RawMessage {
	if e.Figures == nil {
		return json.RawMessage("null")
	}
	return e.Figures
}

func putPart(ctx context.Context, tx *sql.Tx, id string, part store.EvaluationPart, body []byte) error {
	if body == nil {
		body = []byte{} // nil would be NULL
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO evaluation_parts (evaluation_id, part, body) VALUES (?1, ?2, ?3)
		ON CONFLICT (evaluation_id, part) DO UPDATE SET body = ?3`, id, part, body)
	return err
}

// Evaluation implements store.Evaluations.
func (db *DB) Evaluation(ctx context.Context, id string) (e store.Evaluation, err error) {
	err = db.read(ctx, "evaluation "+id, func(tx *sql.Tx) error {
		e, err = evaluationIn(ctx, tx, id)
		return err
	})
	return e, err
}

func evaluationIn(ctx context.Context, tx *sql.Tx, id string) (store.Evaluation, error) {
	return scanEvaluation(tx.QueryRowContext(ctx, `SELECT `+evaluationColumns+` FROM evaluations WHERE id = ?`, id))
}

// Evaluations implements store.Evaluations.
func (db *DB) Evaluations(ctx context.Context, page store.Page) (all []store.Evaluation, err error) {
	err = db.read(ctx, "list evaluations", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+evaluationColumns+` FROM evaluations WHERE id > ? ORDER BY id LIMIT ?`,
			page.After, page.Size())
		all, err = collect(rows, err, scanEvaluation)
		return err
	})
	return all, err
}

// UnfinishedEvaluations implements store.Evaluations.
func (db *DB) UnfinishedEvaluations(ctx context.Context) (all []store.Evaluation, err error) {
	err = db.read(ctx, "list unfinished evaluations", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+evaluationColumns+` FROM evaluations WHERE status IN ('queued', 'running') ORDER BY id`)
		all, err = collect(rows, err, scanEvaluation)
		return err
	})
	return all, err
}

// EvaluationPart implements store.Evaluations.
func (db *DB) EvaluationPart(ctx context.Context, id string, part store.EvaluationPart) (body []byte, err error) {
	err = db.read(ctx, fmt.Sprintf("%s of evaluation %s", part, id), func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT body FROM evaluation_parts WHERE evaluation_id = ? AND part = ?`, id, part).Scan(&body)
	})
	return body, err
}

// UpdateEvaluation implements store.Evaluations.
func (db *DB) UpdateEvaluation(ctx context.Context, id string, edit func(*store.Evaluation) error, parts map[store.EvaluationPart][]byte) (e store.Evaluation, err error) {
	err = db.write(ctx, "evaluation "+id, func(ctx context.Context, tx *sql.Tx) error {
		if e, err = evaluationIn(ctx, tx, id); err != nil {
			return err
		}
		edited := e
		if err := edit(&edited); err != nil {
			return err
		}
		e.Status, e.Error, e.Done, e.Attempts = edited.Status, edited.Error, edited.Done, edited.Attempts
		e.Figures, e.Warnings, e.StartedAt, e.UpdatedAt = edited.Figures, edited.Warnings, edited.StartedAt, edited.UpdatedAt
		for part, body := range parts {
			if err := putPart(ctx, tx, id, part, body); err != nil {
				return err
			}
		}
		figures := figuresOf(e)
		return changed(tx.ExecContext(ctx, `UPDATE evaluations SET status = ?, error = ?, done = ?, attempts = ?, figures = ?,
			warnings = ?, started_at = ?, updated_at = ? WHERE id = ?`, e.Status, e.Error, e.Done, e.Attempts, jsonValue{&figures},
			stringList{&e.Warnings}, timestamp{&e.StartedAt}, timestamp{&e.UpdatedAt}, id))
	})
	return e, err
}

// DeleteEvaluation implements store.Evaluations.
func (db *DB) DeleteEvaluation(ctx context.Context, id string) error {
	return db.write(ctx, "delete evaluation "+id, func(ctx context.Context, tx *sql.Tx) error {
		return changed(tx.ExecContext(ctx, `DELETE FROM evaluations WHERE id = ?`, id))
	})
}
