package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// chooseRows is a request of the server's own, answered by an echoInput.
var chooseRows = ClientRequest[echoOutput, echoInput]{Op: wire.OpCustomRequest, Method: "rows/choose", Codecs: []ClientCodec[echoOutput, echoInput]{
	{Append: appendEchoOutput, DecodeParams: decodeEchoOutput, Decode: decodeEchoInput}}}

const choosesRows = `{"experimental":{"com.example/rows":{}},"extensions":{"com.example/rows":{},"io.modelcontextprotocol/tasks":{}}}`

// chooser is a tool that has the client choose.
func chooser() Tool {
	return tool("choose", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		out, err := Send(ctx, call, &chooseRows, "which", &echoOutput{"a or b"})
		if err != nil {
			return nil, err
		}
		return &echoOutput{"chose " + out.Text}, nil
	}), withTask(TaskOptional))
}

func customized1(t *testing.T, tools ...Tool) *fixture {
	t.Helper()
	return customized(t, func(context.Context, *Call, *echoInput) (*echoOutput, error) { return nil, nil }, tools...)
}

func TestSRV07AServerAsksItsClientSomethingOfItsOwn(t *testing.T) {
	f := customized1(t, chooser())
	c := f.dial(t.Context())
	c.initialize(choosesRows)
	for answer, want := range map[string]string{
		`{"text":"b","_meta":{"x":1}}`: "chose b", `{"wrong":1}`: `answer to \"which\"`, `[]`: `answer to \"which\"`, `"b"`: "an answer must be an object",
	} {
		c.call("1", "choose", `{}`)
		q := c.nextRequest()
		if q.Method != "rows/choose" || string(q.Params) != `{"text":"a or b"}` {
			t.Errorf("asked: %s", q.raw)
		}
		c.reply(q, answer)
		if m, _ := c.answer("1"); !strings.Contains(m.raw, want) {
			t.Errorf("%s: %s", answer, m.raw)
		}
	}
	c.call("2", "choose", `{}`)
	c.sendf(`{"jsonrpc":"2.0","id":%s,"error":{"code":7,"message":"not now"}}`, c.nextRequest().ID)
	if m, _ := c.answer("2"); !strings.Contains(m.raw, "not now") {
		t.Error(m.raw)
	}
	c.call("3", "choose", `{}`) // who gives up says so to the client (CAN19)
	q := c.nextRequest()
	c.cancel("3")
	for m := c.next(); ; m = c.next() {
		if m.Method == "notifications/cancelled" {
			if m.field("params", "requestId") != string(q.ID) {
				t.Error(m.raw)
			}
			break
		}
	}
}

func TestSRV07AQuestionOfItsOwnWithoutASession(t *testing.T) {
	f := customized1(t, chooser())
	const caps = `{"extensions":{"com.example/rows":{}}}`
	m, keys, state := f.try(t.Context(), caps, "choose", `{}`, "")
	if len(keys) != 1 || m.field("result", "inputRequests", "which") != `{"method":"rows/choose","params":{"text":"a or b"}}` {
		t.Fatal(m.raw)
	}
	m, _, _ = f.try(t.Context(), caps, "choose", `{}`, answering(state, `{"which":{"text":"b"}}`))
	if m.str("result", "structuredContent", "text") != "chose b" {
		t.Error(m.raw)
	}
	m, _, _ = f.try(t.Context(), caps, "choose", `{}`, answering(state, `{"which":{"other":1}}`))
	m.wantError(t, -32602, `answer to "which": /other: additionalProperties`)
}

func TestSRV07ATaskAsksItsClientSomethingOfItsOwn(t *testing.T) {
	f := customized1(t, chooser())
	c := f.dial(t.Context())
	c.initialize(choosesRows)
	id := c.start("1", "choose", "")
	c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":%q}}`, id)
	q := c.nextRequest()
	if q.Method != "rows/choose" || q.field("params", "_meta", "io.modelcontextprotocol/related-task", "taskId") == "" {
		t.Error(q.raw)
	}
	c.reply(q, `{"text":"a"}`)
	if m, _ := c.answer("2"); m.str("result", "structuredContent", "text") != "chose a" {
		t.Error(m.raw)
	}

	id = f.create(t.Context(), "choose", `{}`, choosesRows)
	f.awaitQuestions(t.Context(), id, 1)
	if m := f.ask(t.Context(), frame(1, "tasks/get", choosesRows, byID(id))); m.str("result", "inputRequests", "which", "method") != "rows/choose" {
		t.Error(m.raw)
	}
	f.ask(t.Context(), frame(2, "tasks/update", choosesRows, byID(id)+`,"inputResponses":{"which":{"text":"b"}}`))
	if m := f.await(t.Context(), id, task.Completed); m.str("result", "result", "structuredContent", "text") != "chose b" {
		t.Error(m.raw)
	}
}

// SRV08: what the client did not declare it is not asked.
func TestSRV07WhoDidNotDeclareTheExtensionIsNotAsked(t *testing.T) {
	f := customized1(t, chooser(), tool("hidden", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		hidden := chooseRows
		hidden.Method = "rows/hidden"
		_, err := Send(ctx, call, &hidden, "which", &echoOutput{"x"})
		if unsupported := (*UnsupportedError)(nil); !errors.As(err, &unsupported) || !strings.HasSuffix(unsupported.Capability, "/com.example~1hidden") {
			err = fmt.Errorf("not refused: %v", err)
		} else {
			err = nil
		}
		return &echoOutput{"out"}, err
	})))
	for _, caps := range []string{nothing, `{"experimental":{"com.example/rows":true}}`, `{"experimental":{"com.example/other":{}}}`} {
		c := f.dial(t.Context())
		c.initialize(caps)
		c.call("1", "choose", `{}`)
		if m, before := c.answer("1"); !strings.Contains(m.raw, "did not declare the capability experimental/com.example/rows\"") || len(before) != 0 {
			t.Errorf("%s: %s", caps, m.raw)
		}
		c.close()
	}
	c := f.dial(t.Context())
	c.initialize(choosesRows)
	c.call("1", "hidden", `{}`)
	if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "out" {
		t.Error(m.raw)
	}
	if m, _, _ := f.try(t.Context(), nothing, "choose", `{}`, ""); m.Error == nil || m.Error.Code != -32021 {
		t.Errorf("stateless: %s", m.raw)
	}
}

func TestSRV07ASessionIsAskedSomethingOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l trail
		f := dual(t, customDefinition(func(context.Context, *Call, *echoInput) (*echoOutput, error) { return nil, nil },
			func(context.Context, *Notice, *echoInput) error { return nil }), WithObserver(l.observe))
		c := f.dial(t.Context())
		c.initialize(choosesRows)
		c.fence()
		l.taken()
		session := sessionsOf(f.srv)[0]
		answered := make(chan string, 1)
		ask := func(params *echoOutput) {
			out, err := Send(t.Context(), session, &chooseRows, "which", params)
			if err != nil {
				out = &echoInput{Text: err.Error()}
			}
			answered <- out.Text
		}
		go ask(&echoOutput{"x"})
		c.reply(c.nextRequest(), `{"text":"b"}`)
		if got := <-answered; got != "b" {
			t.Error(got)
		}
		synctest.Wait()
		l.want(t, "question asked which", "question ended which ok") // of no call, and told all the same
		if ask(&echoOutput{strings.Repeat("x", 1<<20+1)}); !strings.Contains(<-answered, "the params of which are invalid") {
			t.Error("params that break their schema were sent (LET01)")
		}
		go ask(&echoOutput{"x"}) // nobody answers
		c.nextRequest()
		if got := <-answered; !strings.Contains(got, ErrQuestionTimeout.Error()) {
			t.Error(got)
		}
		synctest.Wait()
		l.want(t, "question asked which", "question ended which timeout: "+task.ErrUnanswered.Error()+" after 10m0s")
	})
}

// noticed notes what a handler of notifications is told.
type noticed struct{ trail }

func (n *noticed) seen(ctx context.Context, from *Notice, in *echoInput) error {
	switch in.Text {
	case "fail":
		return errors.New("no such row")
	case "panic":
		panic("oh")
	}
	name, _ := json.Marshal(from.Client().Name)
	n.add("%s: %s %s %s %s %s", in.Text, from.Revision(), from.Principal(), name, from.Meta().Text("example.com/k"), from.Header().Get("X-Trace"))
	return nil
}

func noticeServer(t *testing.T, seen func(context.Context, *Notice, *echoInput) error, opts ...Option) *fixture {
	t.Helper()
	return dual(t, customDefinition(func(_ context.Context, _ *Call, in *echoInput) (*echoOutput, error) { return &echoOutput{in.Text}, nil }, seen), opts...)
}

// awaitNotices returns when the notifications that were read are taken.
func awaitNotices(f *fixture) {
	for f.srv.calls.Used() > 0 {
		runtime.Gosched()
	}
}

func seenRows(text string) string {
	return `{"jsonrpc":"2.0","method":"notifications/rows/seen","params":{"text":"` + text + `","_meta":{"example.com/k":"v"}}}`
}

func TestSRV07ANotificationOfAClientIsTakenByItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n noticed
		var events trail
		f := noticeServer(t, n.seen, WithObserver(events.observe))
		c := f.dial(as(t, "ann"))
		c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"kit","version":"1"}}}`)
		c.next()
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		c.fence()
		events.taken()
		c.send(seenRows("a"), seenRows("b"), `{"jsonrpc":"2.0","method":"notifications/rows/seen","params":{"no":1}}`, seenRows("fail"), seenRows("panic"), seenRows("c"))
		if left := c.fence(); len(left) != 0 {
			t.Errorf("a notification was answered: %v", left)
		}
		synctest.Wait()
		n.want(t, `a: 2025-11-25 ann "kit" v `, `b: 2025-11-25 ann "kit" v `, `c: 2025-11-25 ann "kit" v `)
		got := events.taken()
		if len(got) != 6 || got[0] != "notice ended notifications/rows/seen ok" || !strings.HasPrefix(got[3], "notice ended notifications/rows/seen error: no such row") {
			t.Errorf("observers were told %q", got)
		}
	})
}

func TestSRV07ANotificationWithoutASession(t *testing.T) {
	var n noticed
	f := noticeServer(t, n.seen)
	frame := strings.Replace(seenRows("a"), `"_meta":{`, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"kit","version":"1"},`, 1)
	to, err := f.srv.Route([]byte(frame), "2026-07-28")
	if err != nil {
		t.Fatal(err)
	}
	to.Header = Header{"X-Trace": {"t1"}}
	if got := f.srv.Exchange(as(t, "ann"), &to, newInbox(t)); !got.Silent {
		t.Errorf("answered: %+v", got)
	}
	n.want(t, `a: 2026-07-28 ann "kit" v t1`) // it was taken when Exchange returned

	c := f.dial(as(t, "bob")) // a connection that begins with no handshake
	c.send(strings.Replace(frame, `"a"`, `"b"`, 1), seenRows("c"))
	c.request("1", "server/discover", `{}`)
	awaitNotices(f)
	c.close()
	if err := f.srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	n.want(t, `b: 2026-07-28 bob "kit" v `, `c: 2026-07-28 bob "" v `)
}

func TestSRV07NotificationsBeforeTheHandshakeAreDropped(t *testing.T) {
	var n noticed
	d := customDefinition(func(context.Context, *Call, *echoInput) (*echoOutput, error) { return nil, nil }, n.seen)
	d.Revisions = d.Revisions[:1]
	f := dual(t, d)
	c := f.dial(t.Context())
	c.send(seenRows("early"))
	c.initialize(nothing)
	c.send(seenRows("late"))
	c.fence()
	awaitNotices(f)
	c.close()
	if err := f.srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	n.want(t, `late: 2025-11-25  "c" v `)
}

// One at a time, in order; the next message is read meanwhile, and the end of the session ends the handler (CAN21).
func TestSRV07NotificationsOfAClientAreTakenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l trail
		free := make(chan struct{})
		f := noticeServer(t, func(ctx context.Context, _ *Notice, in *echoInput) error {
			l.add("%s begins", in.Text)
			select {
			case <-free:
			case <-ctx.Done():
				l.add("%s ended", in.Text)
			}
			return nil
		})
		c := f.dial(t.Context())
		c.initialize(nothing)
		c.send(seenRows("a"), seenRows("b"), seenRows("d"))
		c.fence() // nothing holds up what comes after
		other := f.dial(t.Context())
		other.initialize(nothing)
		other.send(seenRows("c"))
		synctest.Wait()
		if got := strings.Join(l.taken(), " "); got != "a begins c begins" && got != "c begins a begins" {
			t.Error(got)
		}
		free <- struct{}{}
		synctest.Wait()
		other.close()
		synctest.Wait()
		c.close()
		synctest.Wait()
		got := strings.Join(l.taken(), ", ")
		if strings.Contains(got, "d begins") || !strings.Contains(got, "ended") {
			t.Error(got)
		}
	})
}

// TSK28: notifications that wait count for who sent them, and there is an end to how many do.
func TestTSK28SRV07NotificationsThatWaitAreBounded(t *testing.T) {
	free := make(chan struct{})
	taken := make(chan struct{}, 1<<10)
	f := noticeServer(t, func(context.Context, *Notice, *echoInput) error {
		<-free
		taken <- struct{}{}
		return nil
	}, WithMaxInFlight(8))
	c := f.dial(t.Context())
	c.initialize(nothing)
	for range 20 {
		c.send(seenRows("x"))
	}
	c.fence()
	if n := f.srv.calls.Used(); n < 5 || n > 8 {
		t.Errorf("%d are counted", n)
	}
	close(free)
	for range 5 {
		<-taken
	}
	c.close()
	if err := f.srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if n, bytes := f.srv.calls.Used(), f.srv.bytes.Used(); n != 0 || bytes != 0 {
		t.Errorf("%d and %d bytes are counted after the end", n, bytes)
	}
	if len(taken) > 3 {
		t.Errorf("%d were taken", 5+len(taken))
	}
}

func TestSRV01MiddlewareIsAroundNotificationsOfAClient(t *testing.T) {
	var l trail
	var log bytes.Buffer
	f := noticeServer(t, func(ctx context.Context, _ *Notice, in *echoInput) error {
		l.add("handler %s %v", in.Text, ctx.Value(markKey{}))
		return errors.New("failed")
	}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))), WithMiddleware(func(next Handle) Handle {
		return func(ctx context.Context, m *Message) (*MessageResult, error) {
			if m.Method != "notifications/rows/seen" {
				return next(ctx, m)
			}
			if m.Kind != rpc.KindNotification || m.Meta().Text("example.com/k") != "v" {
				l.add("message %+v", m)
			}
			if strings.Contains(string(m.Params), "drop") {
				return nil, nil
			}
			_, err := next(context.WithValue(ctx, markKey{}, "marked"), m)
			l.add("after: %v", err)
			return nil, err
		}
	}))
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.send(seenRows("drop"), seenRows("a"))
	c.fence()
	awaitNotices(f)
	c.close()
	frames, _ := f.exchange(t.Context(), seenRows("b"))
	if err := f.srv.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	l.want(t, "handler a marked", "after: failed", "handler b marked", "after: failed")
	if len(frames) != 0 || !strings.Contains(log.String(), "notification not taken") {
		t.Errorf("%v\n%s", frames, log.String())
	}
}
