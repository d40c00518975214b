package sqlite

import (
	"context"
	"database/sql"
	"slices"

	"ragagent/store"
)

const conversationColumns = `id, title, created_at, updated_at`

func scanConversation(row scanner) (c store.Conversation, err error) {
	err = row.Scan(&c.ID, &c.Title, timestamp{&c.CreatedAt}, timestamp{&c.UpdatedAt})
	return c, err
}

const messageColumns = `id, conversation_id, coalesce(run_id, ''), role, content, citations, created_at`

func scanMessage(row scanner) (m store.Message, err error) {
	err = row.Scan(&m.ID, &m.ConversationID, &m.RunID, &m.Role, &m.Content, citations{&m.Citations}, timestamp{&m.CreatedAt})
	return m, err
}

// StartConversation implements store.Conversations.
func (db *DB) StartConversation(ctx context.Context, conv store.Conversation, run store.Run, messages []store.Message) error {
	if err := checkExchange(conv, run, messages); err != nil {
		return err
	}
	return db.write(ctx, "start conversation "+conv.ID, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO conversations (id, title, created_at, updated_at) VALUES (?, ?, ?, ?)`,
			conv.ID, conv.Title, timestamp{&conv.CreatedAt}, timestamp{&conv.UpdatedAt}); err != nil {
			return err
		}
		return insertExchange(ctx, tx, run, messages)
	})
}

// AddExchange implements store.Conversations.
func (db *DB) AddExchange(ctx context.Context, conv store.Conversation, run store.Run, messages []store.Message) error {
	if err := checkExchange(conv, run, messages); err != nil {
		return err
	}
	return db.write(ctx, "add exchange to "+conv.ID, func(ctx context.Context, tx *sql.Tx) error {
		if err := changed(tx.ExecContext(ctx, `UPDATE conversations SET updated_at = max(updated_at, ?) WHERE id = ?`,
			timestamp{&conv.UpdatedAt}, conv.ID)); err != nil {
			return err
		}
		return insertExchange(ctx, tx, run, messages)
	})
}

func insertExchange(ctx context.Context, tx *sql.Tx, run store.Run, messages []store.Message) error {
	if err := insertRun(ctx, tx, run); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM checkpoints WHERE run_id = ?`, run.ID); err != nil {
		return err
	}
	for _, m := range messages {
		if _, err := tx.ExecContext(ctx, `INSERT INTO messages
			(id, conversation_id, run_id, role, content, citations, created_at)
			VALUES (?, ?, nullif(?, ''), ?, ?, ?, ?)`,
			m.ID, m.ConversationID, m.RunID, m.Role, m.Content, citations{&m.Citations}, timestamp{&m.CreatedAt}); err != nil {
			return err
		}
	}
	return nil
}

func checkExchange(conv store.Conversation, run store.Run, messages []store.Message) error {
	switch {
	case conv.ID == "":
		return store.Invalid("conversation.id", "it is empty")
	case run.ID == "":
		return store.Invalid("run.id", "it is empty")
	case run.ConversationID != conv.ID:
		return store.Invalid("run.conversation_id", "%q is not %s", run.ConversationID, conv.ID)
	}
	if err := checkPositions("run.steps", run.Steps); err != nil {
		return err
	}
	for _, m := range messages {
		switch {
		case m.ID == "":
			return store.Invalid("message.id", "it is empty")
		case m.ConversationID != conv.ID:
			return store.Invalid("message.conversation_id", "%q is not %s", m.ConversationID, conv.ID)
		case m.RunID != "" && m.RunID != run.ID:
			return store.Invalid("message.run_id", "%s is not %s", m.RunID, run.ID)
		}
	}
	return nil
}

// Conversation implements store.Conversations.
func (db *DB) Conversation(ctx context.Context, id string) (c store.Conversation, err error) {
	err = db.read(ctx, "conversation "+id, func(tx *sql.Tx) error {
		c, err = scanConversation(tx.QueryRowContext(ctx, `SELECT `+conversationColumns+` FROM conversations WHERE id = ?`, id))
		return err
	})
	return c, err
}

// Conversations implements store.Conversations.
func (db *DB) Conversations(ctx context.Context, page store.Page) (all []store.Conversation, err error) {
	err = db.read(ctx, "list conversations", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+conversationColumns+` FROM conversations
			WHERE id > ? ORDER BY id LIMIT ?`, page.After, page.Size())
		all, err = collect(rows, err, scanConversation)
		return err
	})
	return all, err
}

// Messages implements store.Conversations. The order is that of storing, not
// of ids: two exchanges at once may have made their ids in turns, and a
// question must stand before its own answer.
func (db *DB) Messages(ctx context.Context, conversationID string, page store.Page) (all []store.Message, err error) {
	err = db.read(ctx, "messages of "+conversationID, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+messageColumns+` FROM messages
			WHERE conversation_id = ?1 AND key > CASE WHEN ?2 = '' THEN 0 ELSE (SELECT key FROM messages WHERE id = ?2) END
			ORDER BY key LIMIT ?3`, conversationID, page.After, page.Size())
		all, err = collect(rows, err, scanMessage)
		return err
	})
	return all, err
}

// LastMessages implements store.Conversations.
func (db *DB) LastMessages(ctx context.Context, conversationID string, n int) (all []store.Message, err error) {
	if n <= 0 {
		return nil, nil
	}
	err = db.read(ctx, "last messages of "+conversationID, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+messageColumns+` FROM messages
			WHERE conversation_id = ? ORDER BY key DESC LIMIT ?`, conversationID, n)
		all, err = collect(rows, err, scanMessage)
		return err
	})
	slices.Reverse(all)
	return all, err
}

// DeleteConversation implements store.Conversations.
func (db *DB) DeleteConversation(ctx context.Context, id string) error {
	return db.write(ctx, "delete conversation "+id, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM checkpoints WHERE conversation_id = ?`, id); err != nil {
			return err
		}
		return changed(tx.ExecContext(ctx, `DELETE FROM conversations WHERE id = ?`, id))
	})
}
