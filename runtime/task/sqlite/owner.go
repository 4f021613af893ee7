package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// ownerSuffix is what the name of the owner's file ends with.
const ownerSuffix = "-owner"

// own makes this process the owner of the file: it begins to write to FILE-owner in a mode in which SQLite keeps the lock for that. The system drops
// the lock when the process dies, in whatever way. A process that is about to end has two seconds. The write is rolled back: the next owner could not
// read a file that was only partly written when the power failed.
func (s *Store) own(ctx context.Context, db *sql.DB) (err error) {
	if s.owner, err = db.Conn(ctx); err != nil {
		return err
	}
	defer func() { _, _ = s.owner.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }() // the lock stays
	for _, statement := range []string{
		"PRAGMA busy_timeout = 2000",
		"ATTACH ? AS mcpkiln_owner",
		"PRAGMA mcpkiln_owner.locking_mode = EXCLUSIVE",
		"PRAGMA mcpkiln_owner.journal_mode = MEMORY", // no second file
		"BEGIN",
		"CREATE TABLE mcpkiln_owner.mcpkiln_try (one INTEGER)",
	} {
		var args []any
		if strings.Contains(statement, "?") {
			args = append(args, s.file+ownerSuffix)
		}
		if _, err := s.owner.ExecContext(ctx, statement, args...); err != nil && strings.Contains(err.Error(), "locked") {
			return fmt.Errorf("%w: stop it first, or give this one a file of its own", ErrOwned)
		} else if err != nil {
			return err
		}
	}
	return nil
}
