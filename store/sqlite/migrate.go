package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"ragagent/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema to the version of this binary, each step in a
// transaction of its own.
func migrate(ctx context.Context, db *sql.DB) error {
	steps, err := migrationSteps(db)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	current, target, err := steps.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if current > target {
		return fmt.Errorf("%w: it has schema version %d and this program knows %d: a newer ragagent wrote it, "+
			"run that version or restore an older backup", store.ErrConflict, current, target)
	}
	if _, err := steps.Up(ctx); err != nil {
		return fmt.Errorf("migrate from schema version %d to %d: %w", current, target, err)
	}
	return nil
}

func migrationSteps(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	// Steps are numbered by what they concern, not by when they came.
	return goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithAllowOutofOrder(true))
}
