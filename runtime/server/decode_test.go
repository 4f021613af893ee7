package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// wideRow is what {} becomes: 1 KiB.
type wideRow struct{ fields [128]int64 }

type wideInput struct{ rows []wideRow }

var wideRule = check.Object{Names: []string{"rows"}, AdditionalProperties: check.Skip}

func decodeWideInput(d *check.Decoder, in *wideInput) {
	for f := d.Object(&wideRule); f >= 0; f = d.Next() {
		if f == 0 {
			in.rows = check.List(d, nil, func(d *check.Decoder, v *wideRow) { d.Skip(); v.fields[0] = 1 })
		}
	}
}

// wideArguments have 3 KB and decode to 1 MiB.
var wideArguments = `{"rows":[` + strings.Repeat(`"",`, 1023) + `""]}`

// wideDefinition has a tool and a method that hold what they get.
func wideDefinition(h *hold) Definition {
	return Definition{
		Tools: []Tool{
			tool("wide", Bind(decodeWideInput, func(ctx context.Context, call *Call, _ *wideInput) (*echoOutput, error) {
				return &echoOutput{"done"}, h.run(ctx, call)
			}, Structured(appendEchoOutput, decodeEchoOutput)), withTask(TaskOptional)),
			tool("echo", structured(echo)),
		},
		Methods: []MethodHandler{BindMethod("prompts/get", func(ctx context.Context, call *Call, _ *wideInput) (*rawResult, error) {
			return &rawResult{`{"messages":[]}`}, h.run(ctx, call)
		}, MethodCodec[wideInput, rawResult]{Decode: decodeWideInput, Append: appendRawResult})},
	}
}

// What requests are decoded to counts like their bytes, as long as they are in flight: of 16 that are short and become 1 MiB each,
// those are refused for which there is no room, and nobody else.
func TestTSK28WhatRequestsAreDecodedToCounts(t *testing.T) {
	rows := wideArguments[1 : len(wideArguments)-1]
	for name, text := range map[string]func(i int) string{
		"arguments": func(i int) string { return frame(i, "tools/call", nothing, callParams("wide", wideArguments)) },
		"params":    func(i int) string { return frame(i, "prompts/get", nothing, `"name":"x",`+rows) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHold()
				f := dual(t, wideDefinition(h), WithMaxBytesInFlight(12<<20))
				var outs []*inbox
				for i := range 16 {
					out := newInbox(t)
					f.begin(WithPrincipal(t.Context(), "mallory"), text(i), out)
					outs = append(outs, out)
					synctest.Wait() // those that are decoded at the same time may all be refused
				}
				time.Sleep(lendProbe) // of a handler that has not answered yet, few begin at once
				synctest.Wait()
				refused := 0
				for _, out := range outs {
					for _, m := range out.frames {
						m.wantError(t, -32600)
						if !strings.Contains(m.raw, "limit reached: at most 12582912 bytes of requests in flight") {
							t.Error(m.raw)
						}
						refused++
					}
				}
				if n := len(h.began); n+refused != 16 {
					t.Errorf("%d of 1 MiB run and %d are refused", n, refused)
				}
				wantAPart(t, f, h)
			})
		})
	}
}

// wantAPart ends what one caller has begun, each with arguments of 1 MiB: it got a part of the 12 MiB, and another one is served.
func wantAPart(t *testing.T, f *fixture, h *hold) {
	t.Helper()
	if n := len(h.began); n < 4 || n > 9 {
		t.Errorf("%d of 1 MiB run", n)
	}
	if got := f.srv.bytes.Used(); got < 4<<20 || got > 9<<20 {
		t.Errorf("%d bytes count", got)
	}
	f.atOnce(t, "bob", frame(1, "tools/call", nothing, callParams("echo", `{"text":"x"}`)))
	h.free()
	synctest.Wait()
	f.counted()
}

// The run of a task decodes its arguments again, in its requestor's account, also when the connection is gone.
func TestTSK28WhatTasksAreDecodedToCounts(t *testing.T) {
	for name, args := range map[string]string{"structs": wideArguments, "text": `{"text":"` + megabyte(1)[:1<<20-64] + `","rows":[]}`} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { runTasks(t, args) }) })
	}
}

// runTasks begins 16 tasks whose arguments take 1 MiB.
func runTasks(t *testing.T, args string) {
	h := newHold()
	f := dual(t, wideDefinition(h), WithMaxBytesInFlight(12<<20))
	s := f.srv.NewSession(WithPrincipal(t.Context(), "mallory"), newInbox(t))
	s.Receive(t.Context(), []byte(initializeFrame))
	for i := range 16 {
		s.Receive(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wide","task":{},"arguments":%s}}`, i, args))
		synctest.Wait()
	}
	wantAPart(t, f, h)
	if err := s.Close(&inflight.Cause{Source: inflight.SourceDisconnect}); err != nil {
		t.Error(err)
	}
	if n := len(f.srv.accounts); n != 0 {
		t.Errorf("%d accounts are left", n)
	}
}

// Answers of clients are decoded in the account of the call that asked.
func TestTSK28WhatAnswersAreDecodedToCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &Question[wideInput]{Name: "q", Message: "?", Schema: `{"type":"object","properties":{}}`, Decode: decodeWideInput}
		f := dual(t, Definition{Tools: []Tool{tool("ask", plain(func(ctx context.Context, c *Call) (*echoOutput, error) {
			_, err := Ask(ctx, c, q, "")
			return &echoOutput{"done"}, err
		}))}}, WithMaxBytesInFlight(1<<20))
		c := f.dial(t.Context())
		c.initialize(everyAsk)
		c.call("1", "ask", `{}`)
		c.reply(c.nextRequest(), `{"action":"accept","content":`+wideArguments+`}`)
		m, _ := c.answer("1")
		m.wantError(t, -32600)
		synctest.Wait() // the call is released after its answer is written
		f.counted()
	})
}

// Answers that are only judged count meanwhile, too: one that does not fit is refused, and can be sent again.
func TestTSK28WhatAnswersAreJudgedWithCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &Question[wideInput]{Name: "q", Message: "?", Schema: `{"type":"object","properties":{}}`, Decode: decodeWideInput}
		f := dual(t, Definition{Tools: []Tool{tool("ask", plain(func(ctx context.Context, c *Call) (*echoOutput, error) {
			_, err := Ask(ctx, c, q, "")
			return &echoOutput{"done"}, err
		}), withTask(TaskOptional))}}, WithMaxBytesInFlight(1<<20))
		id := f.create(t.Context(), "ask", `{}`, tasksAsks)
		f.awaitQuestions(t.Context(), id, 1)
		update := func(content string) message {
			return f.ask(t.Context(), frame(1, "tasks/update", tasksAsks, byID(id)+`,"inputResponses":{"q":{"action":"accept","content":`+content+`}}`))
		}
		update(wideArguments).wantError(t, -32600, "limit reached: at most 1048576 bytes")
		f.awaitQuestions(t.Context(), id, 1)
		update(`{"rows":[""]}`).wantNoError(t)
		f.await(t.Context(), id, task.Completed)
		synctest.Wait() // the run is released after its task is over
		f.counted()
	})
}

// What was judged does not count beside what is kept of it.
func TestTSK28WhatWasJudgedIsGivenBack(t *testing.T) {
	q := &Question[wideInput]{Name: "q", Message: "?", Schema: `{"type":"object","properties":{}}`, Decode: decodeWideInput}
	f := dual(t, Definition{Tools: []Tool{tool("ask", plain(func(ctx context.Context, c *Call) (*echoOutput, error) {
		_, err := Ask(ctx, c, q, "")
		return &echoOutput{"done"}, err
	}))}}, WithMaxBytesInFlight(2<<20))
	m := f.ask(t.Context(), frame(1, "tools/call", forms, callParams("ask", `{}`)))
	m = f.ask(t.Context(), frame(1, "tools/call", forms, callParams("ask", `{}`)+`,"requestState":`+m.field("result", "requestState")+
		`,"inputResponses":{"q":{"action":"accept","content":`+wideArguments+`}}`))
	if m.str("result", "structuredContent", "text") != "done" {
		t.Error(m.raw)
	}
	f.counted()
}

// What an output is decoded to when it is checked counts like an answer that is not read yet, so that others wait, but nothing is
// refused: the handler has done its work.
func TestTSK28WhatOutputsAreCheckedWithCounts(t *testing.T) {
	var f *fixture
	used := int64(0)
	checked := func(d *check.Decoder, out *wideInput) {
		decodeWideInput(d, out)
		used = f.srv.coming.total()
	}
	f = dual(t, Definition{Tools: []Tool{tool("wide", Bind(decodeNoInput, func(context.Context, *Call, *noInput) (*wideInput, error) {
		return new(wideInput), nil
	}, Structured(func(b []byte, _ *wideInput) []byte { return append(b, wideArguments...) }, checked)))}}, WithMaxBytesUnread(1<<20))
	f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("wide", `{}`))).wantNoError(t)
	if used < 1<<20 {
		t.Errorf("%d bytes count while 1 MiB is checked", used)
	}
	f.counted()
}
