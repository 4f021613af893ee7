package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// reasons explain error codes of Postgres, or the classes that codes begin with.
var reasons = map[string]string{
	"28P01": "the user or the password is wrong",
	"28000": "the server does not let this user in from here: look at its pg_hba.conf",
	"3D000": "there is no database of that name on the server: createdb makes one",
	"3F000": "no schema is selected in which tables can be made: set search_path for this user",
	"42501": "this user may not do that: GRANT CREATE ON SCHEMA … for making the tables, and SELECT, INSERT, UPDATE, DELETE on them",
	"53100": "the server's disk is full: nothing was changed",
	"53300": "the server has no connection left",
	"25006": "the database is read-only: name the primary server, not a standby",
	"57P":   "the server is starting or stopping",
}

// explain adds to an error what is wrong with the database. The store's own answers are left as they are.
func explain(err error) error {
	if err == nil || isAnswer(err) {
		return err
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		if settingRefused(refused) {
			return fmt.Errorf("postgres: a pooler does not pass a setting on: set Options.Bouncer, and the search_path by ALTER ROLE … SET: %w", err)
		}
		for _, code := range []string{refused.Code, refused.Code[:3]} {
			if why := reasons[code]; why != "" {
				return fmt.Errorf("postgres: %s: %w", why, err)
			}
		}
		return fmt.Errorf("postgres: %w", err)
	}
	if unreached := (*pgconn.ConnectError)(nil); errors.As(err, &unreached) {
		return fmt.Errorf("postgres: the database can not be reached: %w", err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("postgres: the database did not answer in time: %w", err)
	}
	return fmt.Errorf("postgres: %w", err)
}

// isAnswer reports whether err needs no explanation.
func isAnswer(err error) bool {
	return !task.Outage(err) || errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled)
}

// unreachable reports whether the database can not be reached now, but perhaps later.
func unreachable(err error) bool {
	if err == nil || isAnswer(err) {
		return false
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code[:2] == "08" && !settingRefused(refused) || refused.Code[:3] == "57P" || refused.Code == "53300"
	}
	broken := errors.As(err, new(net.Error)) || errors.Is(err, io.ErrUnexpectedEOF)
	return broken || errors.As(err, new(*pgconn.ConnectError)) || pgconn.SafeToRetry(err) || pgconn.Timeout(err)
}

// settingRefused reports whether a pooler has refused a connection because of a setting. Pgbouncer has one code for that and for temporary errors.
func settingRefused(refused *pgconn.PgError) bool {
	return refused.Code == "08P01" && strings.Contains(refused.Message, "startup parameter")
}

// rolledBack reports whether a transaction was rolled back because of another one at the same time: then it is made again.
func rolledBack(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code[:2] == "40"
}

// refusal reports whether the database has refused a write, which says nothing about other writes.
func refusal(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && !unreachable(err)
}
