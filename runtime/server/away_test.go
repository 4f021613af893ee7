package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// awayStore is a store whose database can be away, for those who ask for work.
type awayStore struct {
	task.Store
	away    atomic.Bool
	lost    atomic.Bool
	noGet   atomic.Bool  // of all calls, this one fails
	answers atomic.Int32 // how many more are lost
	reads   atomic.Int32 // how many more fail
}

var errAway = errors.New("postgres: the database can not be reached: dial tcp db.internal:5432: SELECT 1 FROM secrets")

func (s *awayStore) err() error {
	if s.lost.Load() {
		return fmt.Errorf("sqlite: /srv/tasks.db was removed: %w", task.ErrLost)
	}
	if s.away.Load() {
		return errAway
	}
	return nil
}

func (s *awayStore) read() error {
	if s.reads.Load() > 0 && s.reads.Add(-1) >= 0 {
		return errAway
	}
	return s.err()
}

func (s *awayStore) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	if err := s.err(); err != nil {
		return task.Task{}, err
	}
	return s.Store.Create(ctx, t, q)
}

func (s *awayStore) Get(ctx context.Context, owner, id string) (task.Task, error) {
	if s.noGet.Load() {
		return task.Task{}, errAway
	}
	if err := s.read(); err != nil {
		return task.Task{}, err
	}
	return s.Store.Get(ctx, owner, id)
}

func (s *awayStore) Watch(ctx context.Context, owner, id string) (task.Task, <-chan struct{}, error) {
	if err := s.read(); err != nil {
		return task.Task{}, nil, err
	}
	return s.Store.Watch(ctx, owner, id)
}

func (s *awayStore) List(ctx context.Context, owner, cursor string, limit int) (task.Page, error) {
	if err := s.err(); err != nil {
		return task.Page{}, err
	}
	return s.Store.List(ctx, owner, cursor, limit)
}

func (s *awayStore) Cancel(ctx context.Context, owner, id string, c task.Cancel) (task.Task, error) {
	if err := s.err(); err != nil {
		return task.Task{}, err
	}
	return s.Store.Cancel(ctx, owner, id, c)
}

func (s *awayStore) Answer(ctx context.Context, owner, id string, answers []task.Answer) (task.Task, error) {
	if s.answers.Add(-1) >= 0 {
		return task.Task{}, errAway
	}
	return s.Store.Answer(ctx, owner, id, answers)
}

// A client is asked once. Its answer outlasts a store that is away for a while.
func TestDUR06AnAnswerIsKeptThroughAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &awayStore{Store: task.NewMemory()}
		store.answers.Store(5)
		f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}}, WithTaskStore(store))
		c := f.dialTasks("me")
		id := c.start("1", "ask", "")
		c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
		c.reply(c.nextRequest(), accepted)
		if m, _ := c.answer("2"); m.str("result", "structuredContent", "text") != "accept true true" {
			t.Error(m.raw)
		}
		c.close()
		_ = f.srv.Shutdown(context.Background())
	})
}

// A question reaches its client although the store is away when the client is to be asked, or while it is being asked.
func TestDUR06TSK19AQuestionIsDeliveredAfterAnOutage(t *testing.T) {
	for reads := range int32(6) {
		synctest.Test(t, func(t *testing.T) {
			store := &awayStore{Store: task.NewMemory()}
			f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}}, WithTaskStore(store))
			c := f.dialTasks("me")
			store.reads.Store(reads)
			id := c.start("1", "ask", "")
			c.reply(c.nextRequest(), accepted)
			synctest.Wait()
			c.request("2", "tasks/result", taskID(id)).wantNoError(t)
			c.close()
			_ = f.srv.Shutdown(context.Background())
		})
	}
}

// An outage of the store withdraws no question, and keeps none from the client: on the stream of a result, or of the session.
func TestTSK19DUR06QuestionsOutlastAnOutage(t *testing.T) {
	for _, streamed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store, ask := &awayStore{Store: task.NewMemory()}, make(chan struct{})
			twice := tool("twice", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
				<-ask
				other := make(chan error)
				go func() {
					_, err := Ask(ctx, call, confirmQuestion(), "", Named("other"))
					other <- err
				}()
				_, err := Ask(ctx, call, confirmQuestion(), "", Named("one"))
				return &echoOutput{"both"}, errors.Join(err, <-other)
			}), withTask(TaskOptional))
			f := dual(t, Definition{Tools: []Tool{twice}}, WithTaskStore(store))
			c := f.dialTasks("me")
			id := c.start("1", "twice", "")
			store.away.Store(!streamed)
			if streamed {
				c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
			}
			synctest.Wait()
			store.noGet.Store(true)
			close(ask)
			synctest.Wait()
			time.Sleep(time.Second)
			store.away.Store(false)
			first, second := c.nextRequest(), c.nextRequest()
			store.noGet.Store(false)
			store.away.Store(true)
			c.reply(first, accepted)
			synctest.Wait()
			time.Sleep(time.Second)
			store.away.Store(false)
			c.reply(second, accepted)
			if !streamed {
				c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
			}
			m, before := c.answer("2")
			if m.str("result", "structuredContent", "text") != "both" {
				t.Error(m.raw)
			}
			for _, b := range before {
				if b.Method == "notifications/cancelled" {
					t.Errorf("streamed %v: %s", streamed, b.raw)
				}
			}
			c.close()
			_ = f.srv.Shutdown(context.Background())
		})
	}
}

// While the store is away, whoever needs it is told so and may try again; where it has lost the tasks, nobody need try. Why that is, is for the log.
func TestDUR06ClientsAreToldThatTheStoreIsAway(t *testing.T) {
	h, store := newHold(), &awayStore{Store: task.NewMemory()}
	var log syncBuffer
	f := dual(t, Definition{Tools: jobs(h)}, WithTaskStore(store), WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	session := f.dialTasks("ada")
	older := session.start("1", "hang", "")
	newer := f.ask(t.Context(), frame(1, "tools/call", withTasks, callParams("hang", `{}`))).str("result", "taskId")
	requests := func(check func(what string, m message)) {
		for method, params := range map[string]string{
			"tools/call": `{"name":"quick","arguments":{"text":"x"},"task":{}}`,
			"tasks/get":  taskID(older), "tasks/result": taskID(older), "tasks/list": `{}`, "tasks/cancel": taskID(older),
		} {
			check("2025-11-25 "+method, session.request("7", method, params))
		}
		for method, params := range map[string]string{
			"tools/call": callParams("quick", `{"text":"x"}`), "tasks/get": byID(newer), "tasks/update": byID(newer) + `,"inputResponses":{}`, "tasks/cancel": byID(newer),
			"subscriptions/listen": `"notifications":{"taskIds":["` + newer + `"]}`,
		} {
			check("2026-07-28 "+method, f.ask(t.Context(), frame(8, method, withTasks, params)))
		}
	}
	store.away.Store(true)
	requests(func(what string, m message) {
		m.wantError(t, -32603, "tasks are not available now; try again later")
		if m.field("error", "data") != `{"retryAfterMs":1000}` || strings.Contains(m.raw, "db.internal") || strings.Contains(m.raw, "SELECT") {
			t.Errorf("%s: %s", what, m.raw)
		}
	})
	store.away.Store(false)
	store.lost.Store(true)
	requests(func(what string, m message) {
		m.wantError(t, -32603, "tasks are not available until the server is restarted")
		if m.field("error", "data") != "" || strings.Contains(m.raw, "tasks.db") {
			t.Errorf("%s: %s", what, m.raw)
		}
	})
	store.lost.Store(false)
	session.request("9", "tasks/get", taskID(older)).wantNoError(t)
	h.free()
	_ = f.srv.Shutdown(context.Background())
	if text := log.String(); !strings.Contains(text, "level=ERROR") || !strings.Contains(text, "db.internal:5432") || !strings.Contains(text, "tasks.db was removed") {
		t.Errorf("the log says %q", text)
	}
}
