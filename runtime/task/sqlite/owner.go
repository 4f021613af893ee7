package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ownerSuffix is what the name of the owner's file ends with.
const ownerSuffix = "-owner"

// own makes this process the owner of the file: it begins to write to FILE-owner in a mode in which SQLite keeps the lock for that. The system drops
// the lock when the process dies, in whatever way. A process that is about to end has two seconds. The write is rolled back: the next owner could not
// read a file that was only partly written when the power failed.
func (s *Store) own(ctx context.Context, db *sql.DB) (err error) {
	if s.owner, err = take(ctx, db); err != nil {
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

// oneName refuses a file that may have a second name, by a hard link or because it is mounted by itself: the owner's file and the write-ahead log are beside
// each name, so that another process could own the file, too, and what a crash leaves in one log is missing under the other name (DUR01). mountinfo is
// where Linux lists the mounts; elsewhere they are not looked at.
func oneName(file, mountinfo string) error {
	if n := links(file); n > 1 {
		return fmt.Errorf("it has %d names (hard links), and each would have a log and an owner of its own: remove all but the one that was used last", n)
	}
	mounts, _ := os.ReadFile(mountinfo)
	if file, err := filepath.EvalSymlinks(file); err == nil && isMountPoint(string(mounts), file) {
		return errors.New("it is mounted without the files beside it, which hold its log and its owner: mount the folder that it is in")
	}
	return nil
}

// isMountPoint looks for a path among the mounts, whose fifth fields are paths in which some characters are octal.
func isMountPoint(mounts, path string) bool {
	path = strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`).Replace(path)
	return slices.ContainsFunc(strings.Split(mounts, "\n"), func(mount string) bool {
		fields := strings.Fields(mount)
		return len(fields) > 4 && fields[4] == path
	})
}
