package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// respeller writes JSON that means the same in another way: white space, escapes, numbers and, if shuffle is set, the order of members.
type respeller struct {
	*rand.Rand
	shuffle bool
	lossy   bool // a string has the character that stands in for what is not Unicode
}

// respell returns false for what is no JSON, has a repeated name, or has text that is not Unicode.
func (r *respeller) respell(text []byte) ([]byte, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	out, ok := r.value(nil, d)
	if _, err := d.Token(); err != io.EOF || !ok {
		return nil, false
	}
	return out, !r.lossy
}

func (r *respeller) value(b []byte, d *json.Decoder) ([]byte, bool) {
	token, err := d.Token()
	if err != nil {
		return nil, false
	}
	b = r.space(b)
	switch v := token.(type) {
	case json.Delim:
		return r.members(b, d, v)
	case string:
		return r.space(r.text(b, v)), true
	case json.Number:
		return r.space(r.number(b, v.String())), true
	default:
		raw, err := json.Marshal(v)
		return r.space(append(b, raw...)), err == nil
	}
}

// members writes an object or an array.
func (r *respeller) members(b []byte, d *json.Decoder, open json.Delim) ([]byte, bool) {
	var list [][]byte
	seen := map[string]bool{}
	for d.More() {
		var member []byte
		if open == '{' {
			token, err := d.Token()
			name, _ := token.(string)
			if err != nil || seen[name] {
				return nil, false
			}
			seen[name] = true
			member = append(r.space(r.text(r.space(nil), name)), ':')
		}
		member, ok := r.value(member, d)
		if !ok {
			return nil, false
		}
		list = append(list, member)
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	if open == '{' && r.shuffle {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	b = append(append(b, byte(open)), bytes.Join(list, []byte(","))...)
	return r.space(append(b, byte(open)+2)), true // the closing bracket is two further than the opening one
}

func (r *respeller) space(b []byte) []byte {
	for r.IntN(4) == 0 {
		b = append(b, " \t\r\n"[r.IntN(4)])
	}
	return b
}

// number writes the same value with another fraction or exponent.
func (r *respeller) number(b []byte, s string) []byte {
	b = append(b, s...)
	if strings.ContainsAny(s, "eE") {
		return b
	}
	fraction := strings.Contains(s, ".")
	switch r.IntN(5) {
	case 0:
		b = append(b, "e0"...)
	case 1:
		b = append(b, "E+00"...)
	case 2:
		if !fraction {
			b = append(b, '.')
		}
		b = append(b, "00"...)
	case 3:
		if !fraction {
			b = append(b, "0e-1"...)
		}
	}
	return b
}

func (r *respeller) text(b []byte, s string) []byte {
	b = append(b, '"')
	for _, c := range s {
		r.lossy = r.lossy || c == utf8.RuneError
		switch {
		case c == '/' && r.IntN(2) == 0:
			b = append(b, `\/`...)
		case c < ' ' || c == '"' || c == '\\' || c < 0x10000 && r.IntN(4) == 0:
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, string(c)...)
		}
	}
	return append(b, '"')
}

// heard is what a client understands of an answer. Violations quote what was sent, as it was spelt, and are listed in its order.
type heard struct {
	id     any
	code   int
	failed bool
	result any // nil for violations, and after shuffling
	status int
}

func hear(t *testing.T, frames [][]byte, status int, all bool) []heard {
	t.Helper()
	var list []heard
	for _, frame := range frames {
		var m struct {
			ID     any
			Error  *struct{ Code int }
			Result map[string]any
		}
		if err := json.Unmarshal(frame, &m); err != nil {
			t.Fatalf("the server wrote %q: %v", frame, err)
		}
		h := heard{id: m.ID, status: status, failed: m.Result["isError"] == true}
		if m.Error != nil {
			h.code = m.Error.Code
		}
		if all && !h.failed {
			delete(m.Result, "requestState") // sealed with a random nonce
			h.result = m.Result
		}
		list = append(list, h)
	}
	return list
}

// exchanged is how a transport serves one message.
func exchanged(srv *Server, text []byte, hint string) (frames [][]byte, status int) {
	j, refused := srv.Route(text, hint)
	if refused != nil {
		return [][]byte{rpc.AppendError(nil, j.ID, refused)}, j.Status
	}
	if j.Revision == nil {
		return nil, -1 // a session's
	}
	result := srv.Exchange(context.Background(), &j, writerFunc(func(_ rpc.ID, _ bool, frame []byte) {
		frames = append(frames, bytes.Clone(frame))
	}))
	return frames, result.Status
}

// inSession is how a connection that has done the handshake serves one message.
func inSession(srv *Server, text []byte) [][]byte {
	frames := make(chan []byte, 8)
	ss := srv.NewSession(context.Background(), writerFunc(func(_ rpc.ID, last bool, frame []byte) {
		if last {
			frames <- bytes.Clone(frame)
		}
	}))
	defer func() { _ = ss.Close(&inflight.Cause{Source: inflight.SourceDisconnect}) }()
	ss.Receive(context.Background(), []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
	<-frames
	if !ss.Receive(context.Background(), text).Answered {
		return nil
	}
	return [][]byte{<-frames}
}

// FuzzLET14Spelling: JSON that means the same is answered the same, however it is spelt, by every revision.
func FuzzLET14Spelling(f *testing.F) {
	for _, seed := range []string{
		frame(1, "tools/call", everyAsk, callParams("ask", `{"text":"x"}`)),
		frame(1, "tools/call", nothing, callParams("echo", `{"text":"x","count":"no"}`)),
		frame(1, "tools/list", nothing, ""), frame(1, "server/discover", nothing, ""),
		frame(1, "prompts/get", nothing, `"name":"p"`), frame(1, "resources/read", nothing, `"uri":"test://a/b"`),
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}}`,
		`{"jsonrpc":"2.0","id":"a/b","method":"tools/call","params":{"name":"echo","arguments":{"text":"a/b"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		frameWith(7, "tools/call", nothing, callParams("echo", `{"text":"x","count":3}`), `"progressToken":12`),
		`{"jsonrpc":"2.0","id":-20,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"},"task":{"ttl":60000},"_meta":{"progressToken":0.5}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
	} {
		for _, hint := range []string{"", "2025-11-25", "2026-07-28"} {
			f.Add([]byte(seed), hint, uint64(len(seed)))
		}
	}
	srv, err := New(Definition{
		Runtime: Generation1, Methods: prompts(), Revisions: []*wire.Revision{wiretest.Revision20251125(), wiretest.Revision20260728()},
		Tools: []Tool{tool("echo", structured(echo)), asker(confirmQuestion())},
	}, WithGather(0))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = srv.Shutdown(context.Background()) })
	f.Fuzz(func(t *testing.T, text []byte, hint string, seed uint64) {
		j, _ := srv.Route(text, hint)
		if j.Method == "subscriptions/listen" || j.Method == "initialize" {
			return // lasts; is done
		}
		for _, shuffle := range []bool{false, true} {
			other, ok := (&respeller{Rand: rand.New(rand.NewPCG(seed, 1)), shuffle: shuffle}).respell(text)
			if !ok {
				return
			}
			frames, status := exchanged(srv, text, hint)
			frames2, status2 := exchanged(srv, other, hint)
			want, got := hear(t, frames, status, !shuffle), hear(t, frames2, status2, !shuffle)
			if !reflect.DeepEqual(want, got) {
				t.Fatalf("without a session, hint %q:\n%s\n%+v\n%s\n%+v", hint, text, want, other, got)
			}
			want, got = hear(t, inSession(srv, text), 0, !shuffle), hear(t, inSession(srv, other), 0, !shuffle)
			if !reflect.DeepEqual(want, got) {
				t.Fatalf("in a session:\n%s\n%+v\n%s\n%+v", text, want, other, got)
			}
		}
	})
}
