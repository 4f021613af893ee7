package client_test

import (
	"errors"
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
				go p.each(func(m message) {
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
				_ = s.Abort()
			})
		}
	}
}
