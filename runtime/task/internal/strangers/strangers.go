// Package strangers checks that a requestor can not distinguish tasks of another owner from tasks that do not exist: the answers are the same (TSK17,
// TSK21), and take as long. It is for the tests and benchmarks of stores.
package strangers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// kinds are the kinds of tasks that a stranger asks for.
var kinds = []string{"working", "finished", "unknown"}

// fill makes n tasks of each kind, and returns their ids. Unknown ones have nothing but an id.
func fill(t testing.TB, store task.Store, n int) map[string][]string {
	t.Helper()
	ids := map[string][]string{}
	var makers sync.WaitGroup
	for _, kind := range kinds {
		for range n {
			ids[kind] = append(ids[kind], rand.Text())
		}
		for part := range slices.Chunk(ids[kind], n/64+1) {
			makers.Go(func() { makeAll(t, store, kind, part) })
		}
	}
	makers.Wait()
	return ids
}

func makeAll(t testing.TB, store task.Store, kind string, ids []string) {
	for _, id := range ids {
		if kind == "unknown" {
			return
		}
		made := task.Task{ID: id, Owner: "ada", Tool: "tool", Machine: tasktest.Machine(), TTL: time.Hour, Grace: time.Hour, Args: []byte(`{"a":1}`)}
		if _, err := store.Create(t.Context(), made, task.Quota{}); err != nil {
			t.Error(err)
			return
		}
		if kind == "finished" {
			finish(t, store, id)
		}
	}
}

func finish(t testing.TB, store task.Store, id string) {
	t.Helper()
	begun, err := store.Begin(t.Context(), id, "node", time.Hour)
	if err == nil {
		_, err = store.Finish(t.Context(), begun.Lease, task.Outcome{Status: task.Completed, Result: make([]byte, 5000)})
	}
	if err != nil {
		t.Error(err)
	}
}

// lookups are the frames that ask for a task, with one id of a request, by method and revision.
var lookups = map[string]string{
	"tasks/get of 2025-11-25":    `{"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{"taskId":%q}}`,
	"tasks/result of 2025-11-25": `{"jsonrpc":"2.0","id":7,"method":"tasks/result","params":{"taskId":%q}}`,
	"tasks/cancel of 2025-11-25": `{"jsonrpc":"2.0","id":7,"method":"tasks/cancel","params":{"taskId":%q}}`,
	"tasks/get of 2026-07-28":    `{"jsonrpc":"2.0","id":7,"method":"tasks/get","params":{"taskId":%q,` + meta + `}}`,
	"tasks/cancel of 2026-07-28": `{"jsonrpc":"2.0","id":7,"method":"tasks/cancel","params":{"taskId":%q,` + meta + `}}`,
	"tasks/update of 2026-07-28": `{"jsonrpc":"2.0","id":7,"method":"tasks/update","params":{"taskId":%q,"inputResponses":{"q":{"action":"decline"}},` + meta + `}}`,
}

const (
	meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
)

// Answered checks that the answer to a stranger is the same, byte for byte, whether there is such a task or not.
func Answered(t *testing.T, store task.Store) {
	ids := fill(t, store, 1)
	ask := serve(t, store)
	ask(initialize)
	for name, frame := range lookups {
		unknown := ask(fmt.Sprintf(frame, rand.Text()))
		if !strings.Contains(unknown, `"code":-32602`) || !strings.Contains(unknown, task.ErrNotFound.Error()) {
			t.Errorf("%s of a task that there is not: %s", name, unknown)
		}
		for _, kind := range kinds {
			if foreign := ask(fmt.Sprintf(frame, ids[kind][0])); foreign != unknown {
				t.Errorf("%s of a %s task of somebody else is answered\n%s, of one that there is not\n%s", name, kind, foreign, unknown)
			}
		}
	}
}

// serve starts a server with the tasks. ask sends it a stranger's frame, and returns the answer.
func serve(t testing.TB, store task.Store) (ask func(frame string) string) {
	tool := server.Tool{Name: "tool", Definition: `{"name":"tool","inputSchema":{"type":"object"}}`, Task: server.TaskPolicy{Support: server.TaskOptional}}
	tool.Handler = server.Bind(func(d *check.Decoder, _ *struct{}) { d.Skip() },
		func(context.Context, *server.Call, *struct{}) (*struct{}, error) {
			return nil, errors.New("no task is made here")
		},
		server.Structured(func(b []byte, _ *struct{}) []byte { return b }, func(*check.Decoder, *struct{}) {}))
	srv, err := server.New(server.Definition{
		Name: "test", Version: "1", Runtime: server.Generation1, Tools: []server.Tool{tool},
		Revisions: []*wire.Revision{wiretest.Revision20251125(), wiretest.Revision20260728()},
	}, server.WithTaskStore(store))
	if err != nil {
		t.Fatal(err)
	}
	client, conn := rpc.Pipe()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(server.WithPrincipal(context.WithoutCancel(t.Context()), "eve"), conn) }()
	t.Cleanup(func() {
		if err := errors.Join(client.Close(), <-served, srv.Shutdown(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return func(frame string) string {
		if err := client.WriteFrame([]byte(frame)); err != nil {
			t.Fatal(err)
		}
		answer, err := client.ReadFrame(nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
}

// Benchmark shows the median time of lookups by a stranger for each kind of task, in turns, so that a busy machine delays all of them: of the store alone,
// and of requests, which is what a stranger can measure.
func Benchmark(b *testing.B, store task.Store) {
	ids := fill(b, store, 10_000)
	b.Run("store", func(b *testing.B) {
		median(b, ids, func(id string) {
			if _, err := store.Get(b.Context(), "eve", id); !errors.Is(err, task.ErrNotFound) {
				b.Fatal(err)
			}
		})
	})
	b.Run("request", func(b *testing.B) {
		ask := serve(b, store)
		ask(initialize)
		frame := lookups["tasks/get of 2025-11-25"]
		median(b, ids, func(id string) { ask(fmt.Sprintf(frame, id)) })
	})
}

func median(b *testing.B, ids map[string][]string, lookup func(id string)) {
	took := map[string][]time.Duration{}
	for i := range b.N {
		for k := range kinds {
			kind := kinds[(i+k)%len(kinds)]
			id := ids[kind][i%len(ids[kind])]
			start := time.Now()
			lookup(id)
			took[kind] = append(took[kind], time.Since(start))
		}
	}
	for kind, all := range took {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Nanoseconds()), "ns-"+kind)
	}
}
