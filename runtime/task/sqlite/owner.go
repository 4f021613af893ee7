package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// own makes this process the owner of the file: it writes to FILE-owner in a mode in which SQLite keeps the lock that it takes for that. The
// system drops the lock when the process dies, however it does. A process that is about to end has two seconds.
func (s *Store) own(ctx context.Context, db *sql.DB) (err error) {
	if s.owner, err = db.Conn(ctx); err != nil {
		return err
	}
	for _, statement := range []string{
		"PRAGMA busy_timeout = 2000",
		"ATTACH ? AS mcpkiln_owner",
		"PRAGMA mcpkiln_owner.locking_mode = EXCLUSIVE",
		"PRAGMA mcpkiln_owner.synchronous = OFF", // it holds nothing but the lock
		"CREATE TABLE IF NOT EXISTS mcpkiln_owner.owner (one INTEGER PRIMARY KEY)",
		"REPLACE INTO mcpkiln_owner.owner VALUES (1)",
	} {
		var args []any
		if strings.Contains(statement, "?") {
			args = append(args, s.file+"-owner")
		}
		if _, err := s.owner.ExecContext(ctx, statement, args...); err != nil && strings.Contains(err.Error(), "locked") {
			return fmt.Errorf("%w: stop it first, or give this one a file of its own", ErrOwned)
		} else if err != nil {
			return err
		}
	}
	return nil
}
