package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/testdata/orders/ordersclient"
)

// attacks is how many sessions with a hostile server are tried in each revision.
var attacks = flag.Int("attacks", 150, "sessions with a hostile server that TestVAL07AHostileServer tries in each revision")

// hostile is a server that answers a generated client with whatever it likes.
type hostile struct {
	*peer
	revision string
	rand     *rand.Rand
	asked    int // questions so far
}

// serve answers every request, or does not, and says more than it is asked.
func (h *hostile) serve() {
	h.each(func(m message) {
		for h.rand.IntN(4) == 0 {
			h.say(h.noise(m))
		}
		if m.ID == nil || m.Method == "" || h.rand.IntN(20) == 0 {
			return // it drops one of twenty
		}
		h.say(h.reply(m))
		if h.rand.IntN(10) == 0 {
			h.say(h.reply(m)) // and answers one of ten twice
		}
	})
}

// say writes a frame, if the client is there.
func (h *hostile) say(frame string) { _ = h.conn.WriteFrame([]byte(frame)) }

func (h *hostile) pick(all ...string) string { return all[h.rand.IntN(len(all))] }

// reply is an answer to a request: the right one, one for another request, or nonsense.
func (h *hostile) reply(m message) string {
	id := string(m.ID)
	if h.rand.IntN(40) == 0 {
		id = h.pick("null", `"`+id+`"`, "-1", "99999")
	}
	if h.rand.IntN(20) == 0 {
		code := h.pick("-32602", "-32603", "-32601", "1", `"x"`, "-32021", "-32020")
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + code + `,"message":` + h.pick(`"no"`, `"\u001b[2J"`, `7`) + `}}`
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + h.result(m.Method) + `}`
}

func (h *hostile) result(method string) string {
	if h.rand.IntN(20) == 0 {
		method = h.pick("tools/list", "tools/call", "tasks/get", "tasks/result", "tasks/cancel")
	}
	if h.rand.IntN(30) == 0 {
		return h.pick("5", "null", "[]", `"x"`, "{}", `{"resultType":"later"}`, `{"resultType":7}`)
	}
	switch method {
	case "tools/list":
		return h.pick(`{"resultType":"complete","tools":[{"name":"build_report","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},{"name":"import_orders","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`,
			`{"resultType":"complete","tools":5}`, `{"resultType":"complete","tools":[5,{"name":7},{"name":"place_order","inputSchema":"x"}],"nextCursor":"`+fmt.Sprint(h.rand.IntN(5))+`"}`)
	case "tools/call":
		return h.pick(h.output(), h.created(), h.created(), h.created(), h.inputRequired())
	case "tasks/get", "tasks/cancel":
		return h.state(h.pick("working", "working", "input_required", "completed", "failed", "cancelled", "napping", ""))
	}
	return h.output()
}

// output is the result of a tool, with more or less of what its schema wants.
func (h *hostile) output() string {
	return `{"resultType":"complete","content":` + h.pick(`[]`, `[]`, `[]`, `[{"type":"text","text":"x"}]`, `5`, `[{"type":"text","text":"{\"pages\":1}"}]`) +
		`,"structuredContent":` + h.pick(`{"pages":3,"imported":4}`, `{"pages":3,"imported":4}`, `{"pages":3,"imported":4}`, `{"pages":0}`, `{"pages":"3"}`, `{"imported":4}`, `{"accepted":true}`, `[1]`, `null`, `{"pages":1e400}`) +
		h.pick(``, ``, ``, `,"isError":true`, `,"isError":"yes"`) + `}`
}

const anyMoments = `"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"`

func (h *hostile) taskID() string {
	return h.pick(`"t1"`, `"t1"`, `"t1"`, `"t1"`, `"t1"`, `"t1"`, `"t1"`, `"t1"`, `"t1"`, `"t1"`, `"t2"`, `""`, `7`, `null`, `"\u001b[2J"`)
}

func (h *hostile) times() string {
	every := h.pick("0", "1", "5000", "-1", "1e300", `"x"`, "86400000")
	return anyMoments + `,"ttl":` + h.pick("null", "-5", "60000") + `,"ttlMs":null,"pollInterval":` + every + `,"pollIntervalMs":` + every
}

func (h *hostile) created() string {
	body := `"taskId":` + h.taskID() + `,"status":"` + h.pick("working", "completed", "napping") + `",` + h.times()
	return `{"resultType":"task",` + body + `,"task":{` + body + `}}`
}

func (h *hostile) state(status string) string {
	return `{"resultType":"complete","taskId":` + h.taskID() + `,"status":"` + status + `",` + h.times() +
		h.pick(``, `,"result":`+h.output(), `,"error":{"code":-1,"message":"x"}`, `,"error":5`) + `,"inputRequests":` + h.questions() + `}`
}

func (h *hostile) inputRequired() string {
	return `{"resultType":"input_required"` + h.pick(``, `,"requestState":"s"`) + h.pick(``, `,"inputRequests":`+h.questions()) + `}`
}

func (h *hostile) questions() string {
	h.asked++
	return h.pick(`{}`, `5`, `{"a":5}`, `{"a":{"method":"tools/call"}}`, fmt.Sprintf(`{"k%d":%s}`, h.asked, h.question(`"method":"elicitation/create",`)), `{"a":`+h.question(`"method":"elicitation/create",`)+`,"b":{"method":"roots/list"}}`)
}

func (h *hostile) question(method string) string {
	return `{` + method + `"params":{"message":"?","requestedSchema":{"type":"object","properties":{"overwrite":{"type":"boolean"}}},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":` + h.taskID() + `}}}}`
}

// noise is a frame that nobody has asked for.
func (h *hostile) noise(m message) string {
	id := string(m.ID)
	if id == "" {
		id = "3"
	}
	note := func(method, params string) string {
		return `{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`
	}
	h.asked++
	return h.pick(note("notifications/progress", `{"progressToken":`+id+`,"progress":`+h.pick("1", "-1", "1e308", `"x"`)+`}`),
		note("notifications/tools/list_changed", "{}"), note("notifications/tasks/status", h.state("working")), note("notifications/tasks", h.state(h.pick("working", "napping", "completed"))),
		note("notifications/cancelled", `{"requestId":`+id+`}`), note("notifications/cancelled", `{"requestId":"q`+fmt.Sprint(h.asked-1)+`"}`), note("notifications/elicitation/complete", `{"elicitationId":7}`),
		fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create",%s`, h.asked, h.question("")[1:]), "Welcome!", "[]", "{", "null",
		`{"jsonrpc":"2.0","id":"x","method":"initialize","params":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`)
}

// known tells whether an error is of a type that callers can tell.
func known(err error) bool {
	for _, as := range []any{new(*client.Cause), new(*client.Error), new(*client.TaskError), new(*client.ToolError), new(*client.ValidationError), new(*client.ProtocolError),
		new(*client.TransportError), new(*client.ExpiredError), new(*client.RefError), new(*client.NotOfferedError)} {
		if errors.As(err, as) {
			return true
		}
	}
	return err == nil || errors.Is(err, client.ErrClosed) || errors.Is(err, client.ErrDetached) || strings.HasPrefix(err.Error(), "client: the task is of tool")
}

// reached counts how far the callers of a hostile server came.
type reached struct{ outputs, tasks, ends atomic.Int64 }

func (n *reached) result(out *ordersclient.BuildReportOutput, err error) error {
	if err == nil && out.Pages > 0 {
		n.outputs.Add(1)
	}
	return err
}

// user is one goroutine that calls what the client has, in any order, and gives up at any moment.
func (n *reached) user(t *testing.T, r *rand.Rand, s *client.Session, c *ordersclient.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.Int64N(int64(2*time.Hour))))
	defer cancel()
	if r.IntN(4) == 0 {
		timer := time.AfterFunc(time.Duration(r.Int64N(int64(time.Second))), cancel)
		defer timer.Stop()
	}
	check := func(err error) {
		if !known(err) {
			t.Errorf("%T: %v", err, err)
		}
		if over := (*client.TaskError)(nil); errors.As(err, &over) {
			n.ends.Add(1)
		}
	}
	switch r.IntN(4) {
	case 0:
		_, err := c.PlaceOrder(ctx, order(1))
		check(err)
	case 1:
		x, err := c.ImportOrders(ctx, &ordersclient.ImportOrdersInput{Source: "a"})
		if check(err); err == nil {
			if _, err = x.Result(ctx); err == nil {
				n.outputs.Add(1)
			}
			check(err)
			x.Detach()
		}
	case 2:
		ref := client.Ref{Version: 1, Endpoint: s.Endpoint(), Revision: s.Revision(), Tool: "build_report", ID: []string{"t1", "", "\x1b\n"}[r.IntN(3)]}
		if r.IntN(3) == 0 {
			ref.Revision, ref.Tool, ref.Version = "2024-11-05", "say", 7
		}
		x, err := c.ResumeBuildReport(ctx, ref)
		if check(err); err == nil {
			_, err = x.Result(ctx)
			check(err)
			x.Detach()
		}
	case 3:
		x, err := c.BuildReport(ctx, &ordersclient.BuildReportInput{Title: "a"}, client.OnProgress(func(client.Progress) {}))
		if check(err); err != nil {
			return
		}
		if _, ok := x.Ref(); ok {
			n.tasks.Add(1)
		}
		var all sync.WaitGroup
		for _, f := range []func(){
			func() { check(n.result(x.Result(ctx))) }, func() { check(n.result(x.Result(ctx))) },
			func() { check(x.Cancel(ctx, "enough")) }, x.Detach, func() { x.Ref() },
			func() {
				for _, err := range x.Updates(ctx) {
					check(err)
				}
			},
		} {
			if r.IntN(2) == 0 {
				all.Go(f)
			}
		}
		all.Wait()
		x.Detach()
		check(x.Cancel(ctx, "again"))
	}
}

// TestVAL07AHostileServer: whatever a server answers and whenever, callers of a generated client get an error that they can tell, in time, and
// nothing is left behind.
func TestVAL07AHostileServer(t *testing.T) {
	outputs := int64(0)
	for _, revision := range withTasks {
		var reached reached
		for n := range *attacks {
			synctest.Test(t, func(t *testing.T) {
				seed := rand.Uint64()
				t.Cleanup(func() {
					if t.Failed() {
						t.Logf("%s, attack %d: seed %d", revision, n, seed)
					}
				})
				r := rand.New(rand.NewPCG(seed, 1))
				s, p := meetOffering(t, revision, taskOffers, elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
					select {
					case <-time.After(time.Second):
					case <-ctx.Done():
					}
					return &client.Answer{Action: client.Accepted, Content: json.RawMessage(`{"overwrite":true}`)}, nil
				}))
				h := &hostile{peer: p, revision: revision, rand: rand.New(rand.NewPCG(seed, 2))}
				go h.serve()
				c := ordersclient.New(s)
				var all sync.WaitGroup
				for i := range 4 {
					all.Go(func() { reached.user(t, rand.New(rand.NewPCG(seed, uint64(3+i))), s, c) })
				}
				if r.IntN(3) == 0 {
					time.Sleep(time.Duration(r.Int64N(int64(time.Minute)))) // of the bubble's clock
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				}
				all.Wait()
				if n := len(s.Requests()); n != 0 {
					synctest.Wait()
					if left := s.Requests(); len(left) > 0 {
						t.Errorf("%d requests are left: %+v", len(left), left)
					}
				}
			})
		}
		outputs += reached.outputs.Load()
		tasks, ends := reached.tasks.Load(), reached.ends.Load()
		t.Logf("%s: %d outputs, %d tasks, %d ends of tasks without one", revision, reached.outputs.Load(), tasks, ends)
		if tasks == 0 || ends == 0 {
			t.Errorf("%s: the attack went nowhere: %d tasks, %d ends of tasks without an output", revision, tasks, ends)
		}
	}
	if outputs == 0 {
		t.Error("no call was ever answered")
	}
}

// TestEXT22ATaskWithoutAnID: it could not be followed, nor cancelled.
func TestEXT22ATaskWithoutAnID(t *testing.T) {
	for _, id := range []string{`""`, `7`, `null`} {
		s, p := meetOffering(t, "2026-07-28", taskOffers)
		done := start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), strings.Replace(taskIs("task", "working", ""), `"t1"`, id, 1))
		r := <-done
		var bad *client.ProtocolError
		if !errors.As(r.err, &bad) || !strings.Contains(r.err.Error(), "the task has no id") {
			t.Errorf("%s: %v", id, r.err)
		}
		if left := s.Requests(); len(left) != 0 {
			t.Errorf("%s: %+v", id, left)
		}
	}
}

// TestCAN11ATaskThatIsNotFollowedAnyMoreCanBeCancelled: Detach ends the following, not the task.
func TestCAN11ATaskThatIsNotFollowedAnyMoreCanBeCancelled(t *testing.T) {
	s, p := meetOffering(t, "2026-07-28", taskOffers)
	started := make(chan *client.Execution[client.ToolResult], 1)
	go func() {
		x, err := s.Start(context.Background(), "x", nil)
		if err != nil {
			t.Error(err)
		}
		started <- x
	}()
	p.answer(p.expect("tools/call"), taskIs("task", "working", `,"pollIntervalMs":600000`))
	x := <-started
	x.Detach()
	cancelled := make(chan error, 1)
	go func() { cancelled <- x.Cancel(context.Background(), "after all") }()
	p.answer(p.expect("tasks/cancel"), `{"resultType":"complete"}`)
	if err := <-cancelled; err != nil {
		t.Error(err)
	}
	if _, err := x.Result(t.Context()); !errors.Is(err, client.ErrDetached) {
		t.Errorf("%v", err)
	}
}

// TestCAN16AListWithoutEndHoldsNoCallUp: a generated client compares before its first call, no longer than one request may take.
func TestCAN16AListWithoutEndHoldsNoCallUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2026-07-28")
		pages := 0
		go p.each(func(m message) {
			switch m.Method {
			case "tools/list":
				time.Sleep(10 * time.Second) // of the bubble's clock
				pages++
				p.answer(m, fmt.Sprintf(`{"resultType":"complete","tools":[],"nextCursor":"%d","ttlMs":0,"cacheScope":"private"}`, pages))
			case "tools/call":
				p.answer(m, `{"resultType":"complete","content":[],"structuredContent":{"accepted":true}}`)
			}
		})
		began := time.Now()
		out, err := ordersclient.New(s).PlaceOrder(t.Context(), order(1))
		if err != nil || !out.Accepted {
			t.Fatalf("%+v, %v", out, err)
		}
		if took := time.Since(began); took > 90*time.Second {
			t.Errorf("called after %v and %d pages", took, pages)
		}
	})
}

// TestTSK27DifferencesWithoutNumber: a server whose tools differ otherwise every time is not told of for ever.
func TestTSK27DifferencesWithoutNumber(t *testing.T) {
	var told []string
	s, p := meet(t, "2026-07-28", differences(&told))
	lists := 0
	go p.each(func(m message) {
		lists++
		p.answer(m, fmt.Sprintf(`{"resultType":"complete","tools":[{"name":"say","inputSchema":{"type":"object","maxProperties":%d}}],"ttlMs":0,"cacheScope":"private"}`, lists))
	})
	ordersclient.New(s)
	for range 1100 {
		listTools(t, s)
	}
	if len(told) != 1000 {
		t.Errorf("told %d times", len(told))
	}
}
