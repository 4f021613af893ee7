package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// variable makes a test binary run as the replica that it describes.
const variable = "MCPKILN_TEST_REPLICA"

// owner has all tasks.
const owner = "ada"

// Replica is a process that works on a store until it is killed.
type Replica struct {
	// Target is where its store is, for Open.
	Target string
	Node   string
	Lease  time.Duration
	// Creators is how many of its clients create tasks, one after the other.
	Creators int
	// Hold keeps runs in their handlers until their contexts end.
	Hold bool
	// Ahead is by how much its store's clock is ahead of its own.
	Ahead time.Duration
	// TTL is that of the tasks that it creates; none if it is 0.
	TTL time.Duration
	// Reads has it read all tasks, report their results, and end.
	Reads bool
	At    Point
	// Program is the test binary that it runs in; "" means this one.
	Program string
}

// Open opens the store and dispatcher of a replica at a target, and returns what closes them.
type Open func(target string) (tasktest.Replica, func() error, error)

// Main is for TestMain: in a process that Start has started it works as a replica, and returns true when that has ended.
func Main(open Open) bool {
	text := os.Getenv(variable)
	if text == "" {
		return false
	}
	var r Replica
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		panic(err)
	}
	with, closeAll, err := open(r.Target)
	if err != nil {
		panic(err)
	}
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	w := newWorker(r, with, say())
	w.say("format", r.Node, task.Format)
	if r.Reads {
		w.read(ended)
	} else {
		w.work(ended)
	}
	if err := closeAll(); err != nil {
		panic(err)
	}
	w.say("closed", r.Node)
	return true
}

// say returns a function that reports: it writes a line at once, so that a kill does not lose it.
func say() func(words ...any) {
	var mu sync.Mutex
	return func(words ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(os.Stdout, words...)
	}
}

// worker does the work of a replica: an engine, and clients of it.
type worker struct {
	Replica
	store  task.Store
	engine *task.Engine
	say    func(words ...any)
	tokens atomic.Int64
}

func newWorker(r Replica, with tasktest.Replica, say func(words ...any)) *worker {
	if r.Ahead != 0 {
		with.Store = Skewed{with.Store, r.Ahead}
	}
	w := &worker{Replica: r, store: &points{Store: with.Store, at: r.At, say: say}, say: say}
	w.engine = task.New(task.Config{
		Store: w.store, Dispatcher: with.Dispatcher, Machine: tasktest.Machine(), Runner: w.run, Resume: true, Lease: r.Lease, Node: r.Node,
		Limits: task.Limits{Running: -1, AllRunning: -1, Kept: -1, Bytes: -1, AllBytes: -1, PollsPerSecond: -1},
	})
	if with.Started != nil {
		with.Started(w.engine)
	}
	return w
}

// token returns a unique text.
func (w *worker) token() string { return fmt.Sprint(w.Node, "-", os.Getpid(), "-", w.tokens.Add(1)) }

// run does a step, asks, and returns what it got.
func (w *worker) run(ctx context.Context, r *task.Run) task.Outcome {
	id := r.Task().ID
	w.say("began", id, r.Epoch())
	w.say("runs", w.Node, id)
	if w.Hold {
		<-ctx.Done()
		w.say("stopped", id, context.Cause(ctx))
		return task.Outcome{Status: task.Completed, Result: []byte("late")}
	}
	step, err := r.Do(ctx, "step", func(context.Context) ([]byte, error) { return []byte(w.token()), nil })
	if err != nil {
		return failed(err)
	}
	w.say("stepped", id, string(step))
	answer, err := r.Ask(ctx, task.Question{Name: "q", Method: "ask/it", Payload: []byte("?")})
	if err != nil {
		return failed(err)
	}
	return task.Outcome{Status: task.Completed, Result: fmt.Append(nil, string(step), "/", string(answer))}
}

func failed(err error) task.Outcome { return task.Outcome{Status: task.Failed, Message: err.Error()} }

// pause is between two calls of a client.
const pause = 20 * time.Millisecond

// work goes on until ctx ends; then it hands over what runs to other replicas.
func (w *worker) work(ctx context.Context) {
	var clients sync.WaitGroup
	for range w.Creators {
		clients.Go(func() { w.create(ctx) })
	}
	clients.Go(func() { w.answer(ctx) })
	<-ctx.Done()
	clients.Wait()
	w.end()
}

// end hands over what runs.
func (w *worker) end() {
	limited, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := w.engine.Close(limited); err != nil {
		w.say("unclosed", w.Node, err)
	}
}

// read reports the result of every task.
func (w *worker) read(ctx context.Context) {
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := w.engine.List(ctx, owner, cursor, 0)
		if err != nil {
			w.say("unread", "-", err)
			break
		}
		for _, t := range page.Tasks {
			if got, err := w.engine.Get(ctx, owner, t.ID); err != nil {
				w.say("unread", t.ID, err)
			} else {
				w.say("seen", t.ID, string(got.Result))
			}
		}
		cursor = page.Next
	}
	w.end()
}

// create makes tasks, of which every second one has a timeout.
func (w *worker) create(ctx context.Context) {
	spec := task.Spec{Owner: owner, Tool: "tool", Reruns: 1 << 20}
	if w.TTL > 0 {
		spec.TTL = &w.TTL
	}
	for n := 0; rest(ctx); n++ {
		spec.Timeout = time.Duration(n%2) * time.Hour
		c, err := w.engine.Create(ctx, spec)
		if err != nil {
			continue
		}
		w.say("created", c.Task.ID, "-")
		c.Start()
		if t, err := w.engine.Get(ctx, owner, c.Task.ID); err == nil && t.Status.Terminal() {
			w.say("seen", t.ID, string(t.Result))
		}
	}
}

// answer answers whatever is asked, on any replica.
func (w *worker) answer(ctx context.Context) {
	for rest(ctx) {
		for cursor, more := "", true; more && ctx.Err() == nil; more = cursor != "" {
			page, err := w.engine.ListAll(ctx, task.Filter{Statuses: []task.Status{task.InputRequired}}, cursor, 100)
			if err != nil {
				break
			}
			var all sync.WaitGroup
			for _, t := range page.Tasks {
				all.Go(func() { w.answerOne(ctx, t.ID) })
			}
			all.Wait()
			cursor = page.Next
		}
	}
}

func (w *worker) answerOne(ctx context.Context, id string) {
	token := w.token()
	w.say("answers", id, token)
	if _, err := w.engine.Answer(ctx, owner, id, task.Answer{Name: "q", Data: []byte(token)}); err == nil {
		w.say("answered", id, token)
	}
}

func rest(ctx context.Context) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
