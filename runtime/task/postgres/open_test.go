package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/calls"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/pgtest"
)

// told is a log that tests wait for.
type told struct {
	mu      sync.Mutex
	records []string
	more    chan struct{}
}

func newTold() *told { return &told{more: make(chan struct{}, 1)} }

func (l *told) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, string(line))
	select {
	case l.more <- struct{}{}:
	default:
	}
	return len(line), nil
}

func (l *told) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// await waits for a line that holds text.
func (l *told) await(t *testing.T, text string) {
	t.Helper()
	for {
		l.mu.Lock()
		all := strings.Join(l.records, "")
		l.mu.Unlock()
		if strings.Contains(all, text) {
			return
		}
		select {
		case <-l.more:
		case <-time.After(time.Minute):
			t.Fatalf("the log does not say %q, but\n%s", text, all)
		}
	}
}

// do runs statements in a schema.
func do(t testing.TB, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, s := range statements {
		if _, err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// refused checks that a database is refused at once, with an error that says all texts and no password.
func refused(t *testing.T, url string, texts ...string) error {
	t.Helper()
	s, err := Open(t.Context(), url, Options{})
	if err == nil {
		s.Close()
		t.Fatal("the database was opened")
	}
	for _, text := range append(texts, "postgres: ") {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error is %q, which does not say %q", err, text)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error tells the password: %v", err)
	}
	return err
}

func TestDatabasesThatAreNotThereAreRefused(t *testing.T) {
	url := server.URL("")
	for what, c := range map[string][]string{
		"no connection string": {"postgres//nonsense", "has to begin with postgres://"},
		"a file":               {"reports.db", "has to begin with postgres://"},
		"no address":           {"postgres://127.0.0.1:99999/tasks", "cannot parse"},
		"another scheme":       {"mysql://ada:secret@127.0.0.1/tasks?a=b", "has to begin with postgres://"},
		"wrong password":       {strings.Replace(url, ":"+pgtest.Password, ":secret2", 1), "the user or the password is wrong"},
		"unknown user":         {strings.Replace(url, "postgres:"+pgtest.Password, "nobody:"+pgtest.Password, 1), "the user or the password is wrong"},
		"unknown database":     {strings.Replace(url, "/postgres?", "/tasks?", 1), "no database of that name", `"tasks"`},
		"unknown schema":       {server.URL("nowhere"), "no schema is selected", "search_path"},
	} {
		t.Run(what, func(t *testing.T) { refused(t, c[0], c[1:]...) })
	}
}

func TestUsersWithoutRightsAreRefused(t *testing.T) {
	url := newURL(t)
	schema := url[strings.LastIndex(url, "=")+1:]
	do(t, url, "CREATE ROLE "+schema+" LOGIN PASSWORD 'secret3'", "GRANT USAGE ON SCHEMA "+schema+" TO "+schema)
	theirs := strings.Replace(url, "postgres:"+pgtest.Password, schema+":secret3", 1)
	refused(t, theirs, "this user may not do that", "GRANT CREATE ON SCHEMA")
	openAt(t, url, Options{}).Close()
	refused(t, theirs, "GRANT")
	do(t, url, "GRANT SELECT ON ALL TABLES IN SCHEMA "+schema+" TO "+schema)
	refused(t, theirs, "the tables belong to another role", schema+" may not use them", "GRANT SELECT, INSERT, UPDATE, DELETE")
	do(t, url, "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "+schema+" TO "+schema)
	s := openAt(t, theirs, Options{})
	if err := finishOne(t.Context(), s, "one"); err != nil {
		t.Error(err)
	}
	refused(t, url+"&default_transaction_read_only=on", "the database is read-only", "primary")
}

func TestDUR07TablesOfANewerVersion(t *testing.T) {
	url := newURL(t)
	openAt(t, url, Options{}).Close()
	do(t, url, "INSERT INTO mcpkiln_migrations VALUES (7, 1)")
	openAt(t, url, Options{}).Close() // made for programs like this one, too
	do(t, url, "INSERT INTO mcpkiln_migrations VALUES (8, 8)")
	err := refused(t, url, "version 8", "up to 2", "run the newer program")
	if newer := (*NewerError)(nil); !errors.As(err, &newer) || newer.Version != 8 || newer.Oldest != 8 {
		t.Errorf("the error is %#v", err)
	}
}

// A task in a form of a newer version is left alone, and seen in lists by what every version knows of it.
func TestDUR07TasksInANewerForm(t *testing.T) {
	url := newURL(t)
	s := openAt(t, url, Options{})
	for _, id := range []string{"old", "new"} {
		if _, err := s.Create(t.Context(), aTask(id), task.Quota{}); err != nil {
			t.Fatal(err)
		}
	}
	do(t, url, `UPDATE mcpkiln_tasks SET head = '\x63' WHERE id = 'new'`)
	newer := (*task.FormatError)(nil)
	if _, err := s.Get(t.Context(), "ada", "new"); !errors.As(err, &newer) {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Begin(t.Context(), "new", "node", time.Minute); !errors.As(err, &newer) {
		t.Errorf("begin: %v", err)
	}
	page, err := s.List(t.Context(), "ada", "", 10)
	if err != nil || len(page.Tasks) != 2 {
		t.Fatalf("list: %+v, %v", page, err)
	}
	if l := page.Tasks[1]; l.ID != "new" || l.Owner != "ada" || l.Tool != "tool" || l.Status != task.Working || l.TTL != time.Hour || l.StatusMessage != newer.Error() {
		t.Errorf("listed: %+v", l)
	}
	do(t, url, `UPDATE mcpkiln_tasks SET expires = created`)
	if x, err := s.Expire(t.Context(), 10); err != nil || len(x.Removed) != 2 {
		t.Errorf("expiry: %+v, %v", x, err)
	}
}

var errImpatient = errors.New("nobody waits any more")

func TestOneProcessMigratesAndOthersWait(t *testing.T) {
	url := newURL(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT pg_advisory_xact_lock(hashtext('mcpkiln migrations'), hashtext(current_schema()))"); err != nil {
		t.Fatal(err)
	}
	const waiting = "another process is bringing the tables up to date; waiting for it"
	opened := make(chan error)
	open := func(ctx context.Context) {
		log := newTold()
		go func() {
			s, err := Open(ctx, url, Options{Logger: log.logger()})
			if err == nil {
				err = s.Close()
			}
			opened <- err
		}()
		log.await(t, waiting)
	}
	impatient, leave := context.WithCancelCause(t.Context())
	open(impatient)
	leave(errImpatient)
	if err := <-opened; !errors.Is(err, errImpatient) || !strings.Contains(err.Error(), "waiting for another process that is bringing the tables up to date") {
		t.Errorf("open while another process migrates: %v", err)
	}
	open(context.WithoutCancel(t.Context()))
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// Many processes that start at once on a new database make the tables once.
func TestProcessesStartTogether(t *testing.T) {
	url := newURL(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := Open(t.Context(), url, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	all.Wait()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var n int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM mcpkiln_migrations").Scan(&n); err != nil || n != len(migrations) {
		t.Errorf("%d migrations, %v", n, err)
	}
}

// A server that is gone is waited for at the start; later, requests get an error within their time, and go on when it is back.
func TestDUR06ServerThatIsGone(t *testing.T) {
	own, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := own.Stop(); err != nil {
		t.Fatal(err)
	}
	log, impatient := newTold(), make(chan error)
	short, leave := context.WithCancel(t.Context())
	go func() {
		_, err := Open(short, own.URL(""), Options{Logger: log.logger()})
		impatient <- err
	}()
	log.await(t, "the database can not be reached; waiting for it")
	leave()
	if err := <-impatient; err == nil || !strings.Contains(err.Error(), "the database can not be reached") {
		t.Errorf("open without a server: %v", err)
	}
	log = newTold()
	opened := make(chan *Store)
	go func() {
		s, err := Open(context.WithoutCancel(t.Context()), own.URL(""), Options{Logger: log.logger()})
		if err != nil {
			t.Error(err)
		}
		opened <- s
	}()
	log.await(t, "the database can not be reached; waiting for it")
	if err := own.Run(); err != nil {
		t.Fatal(err)
	}
	s := <-opened
	if s == nil {
		return
	}
	defer s.Close()
	if err := finishOne(t.Context(), s, "before"); err != nil {
		t.Fatal(err)
	}
	if err := own.Stop(); err != nil {
		t.Fatal(err)
	}
	for what, err := range requests(t.Context(), s) {
		if err == nil || !task.Outage(err) || !strings.Contains(err.Error(), "postgres: ") {
			t.Errorf("%s without a server: %v", what, err)
		}
	}
	if err := own.Run(); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(t.Context(), "ada", "before"); err != nil || got.Status != task.Completed {
		t.Errorf("get after the server is back: %+v, %v", got, err)
	}
	if err := finishOne(t.Context(), s, "after"); err != nil {
		t.Error(err)
	}
}

// requests are calls of every kind.
func requests(ctx context.Context, s *Store) map[string]error {
	errs := map[string]error{}
	_, errs["create"] = s.Create(ctx, aTask("while"), task.Quota{})
	_, errs["get"] = s.Get(ctx, "ada", "before")
	_, _, errs["watch"] = s.Watch(ctx, "ada", "before")
	_, errs["cancel"] = s.Cancel(ctx, "ada", "before", task.Cancel{})
	_, errs["list"] = s.List(ctx, "ada", "", 10)
	_, errs["heartbeat"] = s.Heartbeat(ctx, []task.Lease{{Task: "before", Node: "node", Epoch: 1}}, time.Minute)
	_, errs["orphans"] = s.Orphans(ctx, 10)
	_, errs["expiry"] = s.Expire(ctx, 10)
	return errs
}

func TestClosedStoreSaysSo(t *testing.T) {
	s := openAt(t, newURL(t), Options{})
	s.Close()
	for what, err := range requests(t.Context(), s) {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A server that stops while a database is being opened is waited for as one that is not there yet, however that shows.
func TestDUR06OpenOutlastsConnectionsThatBreak(t *testing.T) {
	for _, broken := range []error{
		&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}, io.ErrUnexpectedEOF,
	} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			err := (&Store{log: slog.New(slog.DiscardHandler)}).await(t.Context(), func(context.Context) error {
				if tries++; tries == 1 {
					return fmt.Errorf("in the midst of it: %w", broken)
				}
				return nil
			})
			if err != nil || tries != 2 {
				t.Errorf("%d tries: %v", tries, err)
			}
		})
	}
}

// Whoever stops waiting for a database is told why it could not be reached, not that somebody has stopped waiting.
func TestDUR06OpenSaysWhyItWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		tries := 0
		err := (&Store{log: slog.New(slog.DiscardHandler)}).await(ctx, func(ctx context.Context) error {
			if tries++; tries == 1 {
				return fmt.Errorf("no server: %w", io.ErrUnexpectedEOF)
			}
			leave()
			return ctx.Err()
		})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	})
}

// However many calls wait for a database that does not answer, none waits for longer than that.
func TestDUR06CallsThatNobodyMakesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, began := &Store{ops: calls.New[*op](maxBatch, ErrClosed), options: Options{Timeout: 5 * time.Second}}, time.Now()
		_, err := s.Cancel(t.Context(), "ada", "one", task.Cancel{})
		if took := time.Since(began); took != 10*time.Second || !task.Outage(err) || !strings.Contains(err.Error(), "did not answer in time") {
			t.Errorf("after %v: %v", took, err)
		}
	})
}
