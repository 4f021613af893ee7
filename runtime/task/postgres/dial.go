package postgres

import (
	"context"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// limitDeadlines bounds dialing, and the deadlines of connections, by the time of one exchange. The driver waits 15 seconds for a connection that
// does not answer before it closes it, and meanwhile that keeps its place: a pool of half-open connections would be full for so long.
func limitDeadlines(dial pgconn.DialFunc, most time.Duration) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &limitedConn{c, most}, nil
	}
}

// limitedConn is a connection whose deadlines are at most most away.
type limitedConn struct {
	net.Conn
	most time.Duration
}

func (c *limitedConn) SetDeadline(t time.Time) error {
	if latest := time.Now().Add(c.most); t.After(latest) {
		t = latest
	}
	return c.Conn.SetDeadline(t)
}
