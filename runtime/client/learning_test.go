package client_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/testdata/orders/orders"
	"github.com/mcpkiln/mcpkiln/testdata/orders/ordersclient"
)

// listing are calls that read the list of tools first, or on their way.
var listing = map[string]func(t *testing.T, s *client.Session, limits client.CallOption) error{
	"Start": func(t *testing.T, s *client.Session, limits client.CallOption) error {
		_, err := s.Start(t.Context(), "x", nil, limits)
		return err
	},
	"a call of a tool that is always a task": func(t *testing.T, s *client.Session, limits client.CallOption) error {
		_, err := s.CallTool(t.Context(), "x", nil, limits)
		return err
	},
	"a generated client": func(t *testing.T, s *client.Session, limits client.CallOption) error {
		_, err := ordersclient.New(s).PlaceOrder(t.Context(), &orders.PlaceOrderInput{Side: "buy", Symbol: "ACME", Quantity: 1}, limits)
		return err
	},
}

// CAN16: the time in which a call reads the list of tools counts in the call's own limits, whatever those of the session are.
func TestCAN16TheTimeOfTheListOfToolsCounts(t *testing.T) {
	for how, call := range listing {
		for _, lists := range []time.Duration{-1, 700 * time.Millisecond} { // how long the list takes; negative: it never comes
			synctest.Test(t, func(t *testing.T) {
				s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithTimeout(0, 0))
				var sent atomic.Bool
				go p.each(func(m message) {
					sent.Store(sent.Load() || m.Method == "tools/call")
					switch {
					case m.Method == "tools/list" && lists > 0:
						sleep(t.Context(), lists)
						p.answer(m, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
					case m.Method == "tools/call" && how == "a call of a tool that is always a task" && lists < 0:
						p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"always a task"}}`, m.ID)
					}
				})
				began := time.Now()
				err := call(t, s, client.Timeout(time.Second, 1500*time.Millisecond))
				var cause *client.Cause
				late := errors.As(err, &cause) && cause.Source == inflight.SourceTimeout
				var refused *client.Error
				if took := time.Since(began); took > 1500*time.Millisecond || !late && !errors.As(err, &refused) {
					t.Errorf("%s, a list that takes %v: %v after %v", how, lists, err, took)
				}
				if how == "a generated client" && !sent.Load() {
					t.Errorf("a list that takes %v: the call is not sent", lists)
				}
				_ = s.Abort()
			})
		}
	}
}

// Whatever its limits are, a call of a generated client is sent, though the list of tools never comes.
func TestCAN16ACallIsSentThoughTheListNeverComes(t *testing.T) {
	for _, limits := range [][2]time.Duration{{0, time.Second}, {2 * time.Second, time.Second}, {time.Second, time.Second}, {time.Second, 3 * time.Second}, {time.Second, 0}} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithTimeout(0, 0))
			sent := make(chan struct{}, 10)
			go p.each(func(m message) {
				if m.Method == "tools/call" {
					sent <- struct{}{}
					p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"not today"}}`, m.ID)
				}
			})
			err := listing["a generated client"](t, s, client.Timeout(limits[0], limits[1]))
			var refused *client.Error
			if !errors.As(err, &refused) || len(sent) != 1 {
				t.Errorf("%v: sent %d times: %v", limits, len(sent), err)
			}
			_ = s.Abort()
		})
	}
}

// A call that is sent again as a task is one call: Requests lists it once, and it can be given up while the list of tools is read between its two
// requests, in the middle of the second one, and when it is a task.
func TestCAN15ACallThatIsSentAgainAsATaskIsOneCall(t *testing.T) {
	const list = `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`
	for _, during := range []string{"the list of tools", "the second request", "the task"} {
		t.Run(during, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := meetOffering(t, "2025-11-25", taskOffers)
				done := start(t.Context(), s, "x")
				p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"always a task"}}`, p.expect("tools/call").ID)
				listing := p.expect("tools/list")
				var second message
				if during != "the list of tools" {
					p.answer(listing, list)
					second = p.expect("tools/call")
				}
				if during == "the task" {
					p.answer(second, `{"task":{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}}`)
				}
				synctest.Wait()
				var calls []client.Request
				for _, r := range s.Requests() {
					if r.Tool == "x" {
						calls = append(calls, r)
					}
				}
				if len(calls) != 1 {
					t.Fatalf("%+v", calls)
				}
				if err := s.CancelRequest(calls[0].ID, "enough"); err != nil {
					t.Error(err)
				}
				go p.each(func(m message) {
					switch m.Method {
					case "tools/list":
						p.answer(m, list)
					case "tools/call":
						t.Error("sent again after it was given up")
					case "tasks/cancel":
						const cancelled = `{"taskId":"t","status":"cancelled","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}`
						_ = p.conn.WriteFrame(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, cancelled)) // the session may be closed
					}
				})
				r := <-done
				var cause *client.Cause
				if !errors.As(r.err, &cause) || cause.Source != inflight.SourceCaller || cause.Reason != "enough" {
					t.Error(r.err)
				}
				_ = s.Abort()
			})
		})
	}
}
