package postgres

import (
	"context"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// briefly dials connections that are given up when nothing has come for longer than one exchange may take. The driver takes leave of a connection that did not
// answer for 15 seconds, and meanwhile it keeps its place in the pool: a pool whose connections are all half open would let nobody in for so long.
func briefly(dial pgconn.DialFunc, most time.Duration) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &brief{c, most}, nil
	}
}

// brief is a connection whose deadlines are never far away.
type brief struct {
	net.Conn
	most time.Duration
}

func (c *brief) SetDeadline(t time.Time) error {
	if latest := time.Now().Add(c.most); t.After(latest) {
		t = latest
	}
	return c.Conn.SetDeadline(t)
}
