package client_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// TestLET20WhatOptionsSayIsInTheRequest: who the client is, from which level on it wants log records, and what the caller adds.
func TestLET20WhatOptionsSayIsInTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2026-07-28", client.WithInfo(json.RawMessage(`{"name":"host","version":"3"}`)), client.WithLogLevel("warning"))
		done := start(t.Context(), s, "echo", client.Meta(json.RawMessage(`{"example.com/trace":"t1"}`)))
		m := p.expect("tools/call")
		var params struct {
			Meta map[string]any `json:"_meta"`
		}
		if err := json.Unmarshal(m.Params, &params); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]any{
			"io.modelcontextprotocol/clientInfo": map[string]any{"name": "host", "version": "3"},
			"io.modelcontextprotocol/logLevel":   "warning",
			"example.com/trace":                  "t1",
		} {
			if got := params.Meta[key]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s is %v, want %v", key, got, want)
			}
		}
		p.answer(m, complete("2026-07-28", "done"))
		if r := <-done; r.err != nil {
			t.Error(r.err)
		}
	})
}

func TestTSK27ARequestSaysHowLongToKeepItsTask(t *testing.T) {
	s, p := meetOffering(t, "2025-11-25", taskOffers)
	done := make(chan error, 1)
	go func() {
		_, err := s.Start(t.Context(), "x", nil, client.TTL(time.Minute))
		done <- err
	}()
	p.answer(p.expect("tools/list"), `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`)
	m := p.expect("tools/call")
	has(t, m.raw, `"task":{"ttl":60000}`)
	p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"full"}}`, m.ID)
	if err := <-done; err == nil {
		t.Error("the refusal is lost")
	}
}

func TestREV02AProbeWaitsAsLongAsItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := rpc.Pipe()
		defer theirs.Close()
		p := &peer{t: t, conn: theirs}
		start, took := time.Now(), make(chan time.Duration, 1)
		go func() {
			p.expect("server/discover")
			m := p.expect("initialize")
			d := time.Since(start)
			p.answer(m, `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"old","version":"1"}}`)
			p.expect("notifications/initialized")
			took <- d
		}()
		s, err := client.Connect(t.Context(), client.Conn(ours), client.WithProbe(5*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if d := <-took; d != 5*time.Second {
			t.Errorf("the handshake came after %v", d)
		}
	})
}
