package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/calls"
)

// ErrClosed: the store was closed.
var ErrClosed = errors.New("postgres: the store of tasks is closed")

// Options say how to work with a database. The zero value is right for most.
type Options struct {
	// Bouncer is for a pooler such as pgbouncer that gives a connection to another client after each transaction: statements are unnamed, and
	// instead of listening for notifications the store asks twice a second.
	Bouncer bool
	// Timeout is how long one exchange with the database may take; 0 means 5 seconds. What takes longer fails, and its connection is closed.
	Timeout time.Duration
	// Created, if not nil, is called in each transaction that creates tasks, with their ids, so that its writes are there if and only if the tasks
	// are: jobs of a queue for example. Its error undoes the transaction. The transaction holds no lock that others wait for.
	Created func(ctx context.Context, tx pgx.Tx, ids []string) error
	// Logger gets records of what the store waits for, and of notifications that failed; nil discards them.
	Logger *slog.Logger
	// Configure may change how connections are made, for TLS or passwords that expire for example; nil changes nothing.
	Configure func(*pgxpool.Config)
}

// offForLookups are settings of connections. Nearly all statements look tasks up by index. Prepared while the tables are small, they would read
// whole tables until these have been analysed: that made creating and finishing tasks three times slower. Behind a pooler there are no
// settings, and each statement is planned anew.
var offForLookups = []string{"enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit"}

// Store is a task.Store, task.Interrupter and task.Offerer in a Postgres database. Make one with Open; it is safe for concurrent use.
type Store struct {
	options Options
	log     *slog.Logger
	pool    *pgxpool.Pool
	cursors task.Cursors
	channel string // of notifications
	sender  string // names this store in its notifications

	ops     *calls.Queue[*op, answer]
	lookups *calls.Queue[*lookup, looked]
	base    context.Context // of the store's own exchanges
	stop    context.CancelFunc
	parts   sync.WaitGroup // listen, sendAll, pollAll
	end     sync.Once

	follow  followers
	unsent  unsent
	holders holders
}

// Open keeps tasks in the database that url names, a connection string as psql takes it, and makes the tables or brings them up to date if it
// has to. While the database can not be reached, or another process migrates it, Open waits until ctx ends, and says so to
// Options.Logger. Other errors say what is wrong with the database.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if scheme, _, _ := strings.Cut(url, "://"); url != "" && !strings.Contains(scheme, "=") && scheme != "postgres" && scheme != "postgresql" {
		return nil, errors.New("postgres: the name of a database has to begin with postgres://, as in postgres://user@host/database")
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, explain(err)
	}
	if o.Bouncer {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	} else {
		for _, setting := range offForLookups {
			config.ConnConfig.RuntimeParams[setting] = "off"
		}
	}
	if o.Configure != nil {
		o.Configure(config)
	}
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	if config.ConnConfig.ConnectTimeout == 0 || config.ConnConfig.ConnectTimeout > o.Timeout {
		config.ConnConfig.ConnectTimeout = o.Timeout
	}
	config.ConnConfig.DialFunc = limitDeadlines(config.ConnConfig.DialFunc, o.Timeout)
	s := &Store{options: o, log: o.Logger, sender: rand.Text()[:8], ops: calls.New[*op](maxBatch, ErrClosed), lookups: calls.New[*lookup](maxLookups, ErrClosed)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, explain(err)
	}
	if err := s.open(ctx); err != nil {
		s.pool.Close()
		return nil, explain(err)
	}
	s.start()
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	for _, step := range []func(context.Context) error{s.migrate, s.load} {
		if err := s.await(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// The pauses between two tries to reach a database double from the first to the last.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 2 * time.Second
)

// await runs a step as soon as the database can be reached. When ctx ends first, the error is why it could not be reached.
func (s *Store) await(ctx context.Context, step func(context.Context) error) (err error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		before := err
		if err = step(ctx); err != nil && ctx.Err() != nil {
			return cmp.Or(before, err)
		}
		if !unreachable(err) {
			return err
		}
		s.log.WarnContext(ctx, "postgres: the database can not be reached; waiting for it", "error", err)
		if rest(ctx, pause) != nil {
			return err
		}
	}
}

// start starts the goroutines that run until Close.
func (s *Store) start() {
	s.base, s.stop = context.WithCancel(context.Background())
	s.follow.init()
	s.unsent.init()
	s.holders.init()
	for range writers {
		s.ops.Serve(s.carryOut)
	}
	for range readers {
		s.lookups.Serve(s.lookUp)
	}
	s.parts.Go(s.sendAll)
	s.parts.Go(s.pollAll)
	if !s.options.Bouncer {
		s.parts.Go(s.listen)
	}
}

// Close waits for the calls that were made, up to Options.Timeout each, and closes the connections. Later calls get ErrClosed.
func (s *Store) Close() error {
	s.end.Do(func() {
		s.ops.Close()
		s.lookups.Close()
		s.stop()
		s.parts.Wait()
		s.pool.Close()
	})
	return nil
}

// Durable is true.
func (s *Store) Durable() bool { return true }

// limited returns ctx with the time limit of one exchange with the database.
func (s *Store) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.options.Timeout)
}

// exchange runs fn, which reads or writes, and explains its error.
func (s *Store) exchange(ctx context.Context, fn func(ctx context.Context) error) error {
	if err := s.ops.Err(); err != nil {
		return err
	}
	ctx, cancel := s.limited(ctx)
	defer cancel()
	return explain(fn(ctx))
}

// channelOf names the channel of all stores that share the tables.
func channelOf(key []byte) string {
	sum := sha256.Sum256(append([]byte("channel "), key...))
	return "mcpkiln_" + hex.EncodeToString(sum[:8])
}
