package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// dialBatches is a client of 2025-03-26.
func dialBatches(t *testing.T, tools ...Tool) *client {
	t.Helper()
	return dialBatchesWith(t, tools)
}

func dialBatchesWith(t *testing.T, tools []Tool, opts ...Option) *client {
	t.Helper()
	c, _ := batchFixture(t, tools, opts...).dialAs("2025-03-26")
	return c
}

// batchFixture is a server of 2025-03-26.
func batchFixture(t *testing.T, tools []Tool, opts ...Option) *fixture {
	t.Helper()
	w := older("2025-03-26", wire.View{})
	w.Batches = true
	srv, err := New(Definition{Name: "test", Version: "1", Runtime: Generation1, Tools: tools, Revisions: []*wire.Revision{wiretest.Revision20251125(), w}}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, srv: srv}
}

func ping(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }

// array is the next frame, which must be an array: its answers by id, errors by their code.
func (c *client) array() map[string]string {
	c.t.Helper()
	frame := <-c.frames
	var all []message
	if err := json.Unmarshal([]byte(frame), &all); err != nil {
		c.t.Fatalf("%v: %s", err, frame)
	}
	got := map[string]string{}
	for _, m := range all {
		if m.Error != nil {
			got[string(m.ID)] = fmt.Sprint(m.Error.Code, " ", m.Error.Message)
		} else {
			got[string(m.ID)] = string(m.Result)
		}
	}
	if len(got) != len(all) {
		c.t.Errorf("an id comes twice: %s", frame)
	}
	return got
}

func TestCAN24ABatchIsAnsweredByAnArray(t *testing.T) {
	c := dialBatches(t, tool("echo", structured(echo)))
	c.send(" [" + ping("1") + `,{"jsonrpc":"2.0","method":"notifications/progress","params":{}},` + ping(`"a"`) + `,{"jsonrpc":"2.0","id":3,"method":"nothing"}]`)
	got := c.array()
	if len(got) != 3 || got["1"] != "{}" || got[`"a"`] != "{}" || !strings.HasPrefix(got["3"], "-32601") {
		t.Error(got)
	}
	c.request("4", "ping", "{}").wantResult(t, "{}") // single messages as ever
}

func TestCAN24ABatchWithoutRequestsIsNotAnswered(t *testing.T) {
	c := dialBatches(t, tool("echo", structured(echo)))
	c.send(`[{"jsonrpc":"2.0","method":"notifications/progress","params":{}},{"jsonrpc":"2.0","id":9,"result":{}}]`)
	if got := c.fence(); len(got) != 0 {
		t.Error(got)
	}
}

func TestCAN24WhatIsNoMessageInABatchIsRefusedByItself(t *testing.T) {
	c := dialBatches(t, tool("echo", structured(echo)))
	c.send(`[5,` + ping("1") + `]`)
	if got := c.array(); len(got) != 2 || got["1"] != "{}" || !strings.HasPrefix(got[""], "-32600") {
		t.Error(got)
	}
	c.send(`[[` + ping("1") + `],` + ping("2") + `]`)
	if got := c.array(); len(got) != 2 || !strings.HasPrefix(got[""], "-32600 an array is no message of a batch") || got["2"] != "{}" {
		t.Error(got)
	}
	c.send(`[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}]`)
	if got := c.array(); !strings.HasPrefix(got["1"], "-32600") {
		t.Errorf("initialize: %v", got)
	}
	c.send(`[` + ping("1") + `,` + ping("1") + `]`) // the second has the id of one that is in flight, or comes after it
	if frame := <-c.frames; strings.Count(frame, `"id":1`) != 2 {
		t.Error(frame)
	}
}

func TestCAN24WhatIsNoBatchIsRefusedWhole(t *testing.T) {
	c := dialBatches(t, tool("echo", structured(echo)))
	for frame, want := range map[string]struct {
		code int
		says string
	}{
		`[]`:            {-32600, "must have a message"},
		`[` + ping("1"): {-32700, ""},
		`[` + strings.Repeat(ping("1")+",", rpc.MaxBatch) + ping("1") + `]`: {-32600, "at most 1000 messages"},
	} {
		c.send(frame)
		c.next().wantError(t, want.code, want.says)
	}
}

func TestCAN24BatchesAreRefusedBeforeTheHandshakeAndInOtherRevisions(t *testing.T) {
	f := newOlderFixture(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}, wire.View{})
	c := f.dial(t.Context())
	c.send(`[` + ping("1") + `]`)
	c.next().wantError(t, -32600, "batches")
	c, _ = f.dialAs("2025-06-18")
	c.send(`[` + ping("1") + `]`)
	c.next().wantError(t, -32600, "batches")
}

// TestCAN24RequestsOfABatchAreCancelledByThemselves: also one whose answer waits for those of others.
func TestCAN24RequestsOfABatchAreCancelledByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		c := dialBatches(t, tool("echo", structured(echo)), tool("hang", h.handler()))
		call := func(id, tool string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"text":"t"}}}`
		}
		c.send(`[` + call("1", "hang") + `,` + ping("2") + `,` + ping("3") + `]`)
		<-h.began
		synctest.Wait()
		c.cancel("3")
		if got := c.fence(); len(got) != 0 {
			t.Errorf("answered before all are there: %v", got)
		}
		h.free()
		if got := c.array(); len(got) != 2 || got["2"] != "{}" || got["1"] == "" {
			t.Error(got)
		}
		if left := c.srv.InFlight(); len(left) != 0 {
			t.Errorf("still in flight: %v", left)
		}
		c.send(`[` + call("4", "hang") + `,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}]`)
		if got := c.fence(); len(got) != 0 {
			t.Errorf("all were cancelled: %v", got)
		}
		c.send(`[` + ping("4") + `]`)
		if got := c.array(); got["4"] != "{}" {
			t.Errorf("the id is free again: %v", got)
		}
		c.close()
	})
}

// TestCAN02ALateCancellationTakesAHeldAnswerOutOfTheArray: also a refusal, which is of no request in flight, in whatever spelling.
func TestCAN02ALateCancellationTakesAHeldAnswerOutOfTheArray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		c := dialBatches(t, tool("hang", h.handler()))
		unknown := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"nothing"}` }
		hang := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}`
		c.send(`[` + strings.Join([]string{hang, ping("2.0"), unknown("3"), unknown("4.0"), ping("5"), unknown(`"3"`)}, ",") + `]`)
		<-h.began
		synctest.Wait()
		for _, id := range []string{"2", "3.0", "4", "6"} {
			c.cancel(id)
		}
		synctest.Wait()
		h.free()
		if got := c.array(); len(got) != 3 || got["5"] != "{}" || got["1"] == "" || !strings.HasPrefix(got[`"3"`], "-32601") {
			t.Error(got)
		}
		c.send(`[` + unknown("7") + `,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7.0}}]`)
		if got := c.fence(); len(got) != 0 {
			t.Errorf("all were cancelled: %v", got)
		}
		c.close()
	})
}

// TestLET14RequestsOfABatchHaveOneIDInAnySpelling.
func TestLET14RequestsOfABatchHaveOneIDInAnySpelling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		c := dialBatches(t, tool("hang", h.handler()))
		hang := func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"hang"}}`
		}
		c.send(`[` + hang("1.0") + `,` + hang("1") + `,` + ping("2") + `]`)
		<-h.began
		synctest.Wait()
		c.send(ping("1e0"))
		c.next().wantError(t, -32600, "in flight")
		c.cancel("10e-1")
		if got := c.array(); len(got) != 1 || got["2"] != "{}" {
			t.Error(got)
		}
		c.close()
	})
}

// A refusal is answered, like the request that has its id and goes on, because it can not be cancelled.
func TestCAN14ARefusalOfAnUncancellableRequestsIDIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		fixed := tool("hang", h.handler())
		fixed.Cancel.Uncancellable = true
		c := dialBatches(t, fixed)
		hang := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang"}}`
		c.send(`[` + hang + `,` + hang + `,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}]`)
		<-h.began
		synctest.Wait()
		h.free()
		if got := string(<-c.frames); !strings.Contains(got, "-32600") || !strings.Contains(got, "structuredContent") {
			t.Errorf("want a refusal and an answer: %s", got)
		}
		c.close()
	})
}

// TestCAN24ProgressOfABatchComesAtOnce.
func TestCAN24ProgressOfABatchComesAtOnce(t *testing.T) {
	free := make(chan struct{})
	c := dialBatches(t, tool("steps", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		call.Progress(ctx, 1, 2, "half")
		<-free
		return &echoOutput{"done"}, nil
	})))
	c.send(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":"p"}}},` + ping("2") + `]`)
	if m := c.next(); m.Method != "notifications/progress" {
		t.Error(m.raw)
	}
	close(free)
	if got := c.array(); len(got) != 2 {
		t.Error(got)
	}
}

// TestCAN24AnAnswerThatCanNotWaitForItsBatchComesAlone: its request was served.
func TestCAN24AnAnswerThatCanNotWaitForItsBatchComesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		large := strings.Repeat("x", 1<<20)
		c := dialBatchesWith(t, []Tool{tool("large", plain(func(context.Context, *Call) (*echoOutput, error) {
			return &echoOutput{large}, nil
		})), tool("hang", h.handler())}, WithMaxBytesInFlight(1<<20))
		c.send(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"large"}},` + ping("3") + `]`)
		if got := c.array(); len(got) != 1 || len(got["2"]) < len(large) {
			t.Errorf("%d answers, %.300s", len(got), got["2"])
		}
		c.send(ping("2")) // the id is free
		if m := c.next(); string(m.ID) != "2" || m.field("result") != "{}" {
			t.Errorf("%.300s", m.raw)
		}
		h.free()
		if got := c.array(); len(got) != 2 || got["3"] != "{}" || got["1"] == "" {
			t.Error(got)
		}
		c.fence()
		synctest.Wait() // what was answered is given back after it is written
		if used := c.srv.bytes.Used(); used != 0 {
			t.Errorf("%d bytes still count", used)
		}
		c.close()
	})
}

// hangAndEcho is a batch in which the answer of the second call waits for the first one.
func hangAndEcho(text string) string {
	return `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + text + `"}}}]`
}

// TestTSK28AnswersOfABatchCountForTheClient while they wait for others.
func TestTSK28AnswersOfABatchCountForTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		c := dialBatches(t, tool("echo", structured(echo)), tool("hang", h.handler()))
		text := strings.Repeat("x", 1<<16)
		c.send(hangAndEcho(text))
		<-h.began
		synctest.Wait()
		if used := c.srv.bytes.Used(); used < 2<<16 {
			t.Errorf("%d bytes count, of an answer of twice %d", used, len(text))
		}
		h.free()
		c.array()
		c.fence()
		synctest.Wait() // what was answered is given back after it is written
		if used := c.srv.bytes.Used(); used != 0 {
			t.Errorf("%d bytes still count", used)
		}
		c.close()
	})
}

// TestTSK28ABatchThatIsCutShortGivesBackWhatItHolds: its client leaves while answers wait for others.
func TestTSK28ABatchThatIsCutShortGivesBackWhatItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		c := dialBatches(t, tool("echo", structured(echo)), tool("hang", h.handler()))
		text := strings.Repeat("x", 1<<16)
		c.send(hangAndEcho(text))
		<-h.began
		synctest.Wait()
		if c.srv.bytes.Used() == 0 {
			t.Error("nothing is held")
		}
		c.close()
		synctest.Wait()
		if used := c.srv.bytes.Used(); used != 0 {
			t.Errorf("%d bytes still count", used)
		}
		if left := c.srv.InFlight(); len(left) != 0 {
			t.Errorf("still in flight: %v", left)
		}
	})
}

// TestTSK28ABatchIsGivenBackHoweverItsLastCallEnds: a protected call times out while its handler returns, after the client left.
func TestTSK28ABatchIsGivenBackHoweverItsLastCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			c := dialBatches(t, tool("protected", plain(func(context.Context, *Call) (*echoOutput, error) {
				time.Sleep(time.Second)
				return &echoOutput{"done"}, nil
			}), func(t *Tool) { t.Cancel = CancelPolicy{Uncancellable: true, Timeout: time.Second} }))
			c.send(`[` + ping("1") + `,{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"protected"}}]`)
			synctest.Wait()
			c.close()
			if used := c.srv.bytes.Used(); used != 0 {
				t.Fatalf("%d bytes still count", used)
			}
		}
	})
}

// TestCAN24AQuestionOfABatchIsAnsweredInABatch: answers of the client may come in one, too.
func TestCAN24AQuestionOfABatchIsAnsweredInABatch(t *testing.T) {
	c := dialBatches(t, asker(confirmQuestion()))
	c.send(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{}}},` + ping("2") + `]`)
	q := c.next()
	if q.Method != elicit {
		t.Fatal(q.raw)
	}
	c.send(`[{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + accepted + `}]`)
	if got := c.array(); len(got) != 2 || !strings.Contains(got["1"], "accept true true") {
		t.Error(got)
	}
}

// Batches whose answers nobody reads are no handlers that run on: the error of the connection tells them apart.
func TestCAN21AnswersOfBatchesThatNobodyReadsAreToldFromHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := older("2025-03-26", wire.View{})
		w.Batches = true
		echoes := tool("echo", plain(func(context.Context, *Call) (*echoOutput, error) {
			return &echoOutput{strings.Repeat("x", 600<<10)}, nil
		}))
		f := dual(t, Definition{Tools: []Tool{echoes}, Revisions: []*wire.Revision{wiretest.Revision20251125(), w}}, WithGrace(time.Second))
		near, far := rpc.Pipe()
		served := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { served <- f.srv.Serve(ctx, far) }()
		c := &client{t: t, conn: near, srv: f.srv}
		c.send(strings.Replace(initializeFrame, "2025-11-25", "2025-03-26", 1))
		for i := range 5 {
			c.sendf(`[{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{}}}]`, i)
		}
		synctest.Wait()
		cancel()
		err := <-served
		if !errors.Is(err, ErrGrace) || !strings.Contains(err.Error(), "have returned and wait for the client to read") || strings.Contains(err.Error(), ", 0 of them") {
			t.Error(err)
		}
		near.Close()
		synctest.Wait()
		f.counted()
	})
}

// brokenOutlet fails to write.
type brokenOutlet struct{ *inbox }

func (brokenOutlet) Write(rpc.ID, bool, []byte) error { return rpc.ErrClosed }

// handBatch is a batch whose answers a test adds by hand.
func (f *fixture) handBatch(out Outlet) *batch {
	p := f.srv.newExchange(f.t.Context(), f.srv.stateless[0], out)
	f.srv.addPeer(p)
	f.t.Cleanup(func() { f.srv.dropPeer(p) })
	return &batch{p: p, writer: make(chan struct{}, 1), pending: rpc.ByID[bool]{}}
}

// The outlet may still read the buffer of an answer that it failed to write before the others of its batch.
func TestCAN24ATornAnswerOfABatchKeepsItsBuffer(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}, WithMaxBytesInFlight(1<<10))
	b := f.handBatch(brokenOutlet{newInbox(t)})
	torn := false
	b.hold(rpc.ID{}, &outgoing{frame: make([]byte, 1<<20), retires: retired{}, torn: &torn})
	if !torn {
		t.Error("the buffer is used again")
	}
}

// notRetired is a request that was cancelled.
type notRetired struct{}

func (notRetired) Retire() bool { return false }

// A batch is not answered because there was an answer in a file that was cancelled just before it was written.
func TestCAN24ABatchOfCancelledLongAnswersIsNotAnswered(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	b := f.handBatch(newInbox(t))
	b.answers = []heldAnswer{{answerPart{file: &spool{}}, notRetired{}}}
	b.writeNow(false)
	if b.close() {
		t.Error("it is answered")
	}
}
