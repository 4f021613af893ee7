package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"
)

// conn is a connection with the statements that were prepared on it.
type conn struct {
	*sql.Conn
	prepared map[string]*sql.Stmt
}

// connect takes a connection and sets it up.
func connect(ctx context.Context, db *sql.DB, setup ...string) (*conn, error) {
	c, err := take(ctx, db)
	if err != nil {
		return nil, err
	}
	made := &conn{c, map[string]*sql.Stmt{}}
	if err := made.run(ctx, setup...); err != nil {
		made.Close()
		return nil, err
	}
	return made, nil
}

// take takes a connection. Only a pragma of the data source can find the file locked then: the store has used it for nothing yet.
func take(ctx context.Context, db *sql.DB) (*sql.Conn, error) {
	c, err := db.Conn(ctx)
	if err != nil && strings.Contains(err.Error(), "locked") {
		err = errors.New("a pragma of the data source, such as journal_mode or locking_mode, needs the file for itself: remove it")
	}
	return c, err
}

func (c *conn) run(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := c.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// statement prepares a text once. Texts are constants, or differ by the number of their parameters alone.
func (c *conn) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	if p := c.prepared[text]; p != nil {
		return p, nil
	}
	p, err := c.PrepareContext(ctx, text)
	if err == nil {
		c.prepared[text] = p
	}
	return p, err
}

func (c *conn) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	p, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return p.ExecContext(ctx, args...)
}

// query calls row for each row of the result.
func (c *conn) query(ctx context.Context, row func(scan func(...any) error) error, text string, args ...any) error {
	p, err := c.statement(ctx, text)
	if err != nil {
		return err
	}
	rows, err := p.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Close returns the connection to the pool.
func (c *conn) Close() error {
	for _, p := range c.prepared {
		p.Close()
	}
	return c.Conn.Close()
}

// read runs fn with a connection of its own for reading.
func (s *Store) read(ctx context.Context, fn func(c *conn) error) error {
	if err := cmp.Or(s.ops.Err(), s.present()); err != nil {
		return err
	}
	select {
	case c := <-s.idle:
		defer func() { s.idle <- c }()
		if err := fn(c); err != nil {
			return s.failed(err)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
