package client_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

func TestREV02EveryRevisionIsSpoken(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		s := dial(t, newServer(t, tools()), client.WithRevision(revision))
		if s.Revision() != revision {
			t.Errorf("revision %s", s.Revision())
		}
		r, err := s.CallTool(t.Context(), "echo", map[string]string{"text": "hello"})
		if err != nil || r.IsError {
			t.Fatal(r, err)
		}
		has(t, string(r.Raw), "hello")
		var names []string
		for definition, err := range s.ListTools(t.Context()) {
			var d struct{ Name string }
			if err != nil || json.Unmarshal(definition, &d) != nil {
				t.Fatal(err)
			}
			names = append(names, d.Name)
		}
		if slices.Sort(names); !slices.Equal(names, []string{"count", "echo", "hang"}) {
			t.Errorf("tools %q", names)
		}
		has(t, string(s.ServerInfo()), `"test"`)
	})
}

// A server that does not know the first request of a revision without a handshake is offered the newest revision that has one
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation).
func TestREV02TheHandshakeOffersTheNewestVersion(t *testing.T) {
	ours, theirs := rpc.Pipe()
	p := &peer{t, theirs, offers}
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`, p.expect("server/discover").ID)
		m := p.expect("initialize")
		has(t, m.raw, `"protocolVersion":"2025-11-25"`)
		p.answer(m, `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"peer","version":"1"}}`)
		p.expect("notifications/initialized")
	}()
	s, err := client.Connect(t.Context(), client.Conn(ours))
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if s.Revision() != "2025-06-18" {
		t.Errorf("revision %s", s.Revision())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_ = theirs.Close()
}

func TestREV02TheNewestRevisionIsPicked(t *testing.T) {
	if s := dial(t, newServer(t, tools())); s.Revision() != revisions[0] {
		t.Errorf("revision %s", s.Revision())
	}
}

func TestREV02ASilentServerGetsTheHandshake(t *testing.T) {
	for name, reply := range map[string]string{
		"silence":          "",
		"unknown method":   `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`,
		"another error":    `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"not initialized"}}`,
		"any answer":       `{"jsonrpc":"2.0","id":1,"result":{}}`,
		"error without id": `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"?"}}`,
		"older versions":   `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"?","data":{"supported":["2025-06-18"],"requested":"2026-07-28"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := rpc.Pipe()
				p := &peer{t: t, conn: theirs}
				defer theirs.Close()
				begun := make(chan time.Duration, 1)
				start := time.Now()
				go func() {
					p.expect("server/discover")
					if reply != "" {
						p.send("%s", reply)
					}
					m := p.expect("initialize") // and no cancellation before
					took := time.Since(start)
					has(t, string(m.Params), `"protocolVersion":"2025-11-25"`)
					p.answer(m, `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"old","version":"1"}}`)
					p.expect("notifications/initialized")
					begun <- took
				}()
				s, err := client.Connect(t.Context(), client.Conn(ours))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				want := time.Duration(0)
				if reply == "" {
					want = 2 * time.Second
				}
				if took := <-begun; took != want || s.Revision() != "2025-06-18" {
					t.Errorf("revision %s after %v, want %v", s.Revision(), took, want)
				}
			})
		})
	}
}

func TestREV02AnUnsupportedVersionIsTriedAgainOnce(t *testing.T) {
	ours, theirs := rpc.Pipe()
	defer theirs.Close()
	p := &peer{t: t, conn: theirs}
	go func() {
		for range 2 {
			m := p.expect("server/discover")
			p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"?","data":{"supported":["2026-07-28"],"requested":"x"}}}`, m.ID)
		}
	}()
	_, err := client.Connect(t.Context(), client.Conn(ours))
	var version *client.VersionError
	if !errors.As(err, &version) {
		t.Fatalf("%v", err)
	}
	has(t, err.Error(), "refuses what it says it speaks: 2026-07-28")
}

func TestREV02AnAnswerInAnotherRevisionEndsTheSession(t *testing.T) {
	ours, theirs := rpc.Pipe()
	p := &peer{t: t, conn: theirs}
	go func() {
		p.answer(p.expect("initialize"), `{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)
	}()
	_, err := client.Connect(t.Context(), client.Conn(ours), client.WithRevision("2025-11-25"))
	var version *client.VersionError
	if !errors.As(err, &version) {
		t.Fatalf("%v", err)
	}
	has(t, err.Error(), "1999-01-01", "2025-11-25")
	if _, err := theirs.ReadFrame(nil); err == nil {
		t.Error("the session went on")
	}
}

func TestWhatIsNotOfferedIsRefused(t *testing.T) {
	s := dial(t, newServer(t, tools()))
	var none *client.NotOfferedError
	if _, err := s.GetPrompt(t.Context(), "x", nil); !errors.As(err, &none) {
		t.Errorf("%v", err)
	}
	if err := s.Ping(t.Context()); !errors.As(err, &none) {
		t.Errorf("a ping in %s: %v", s.Revision(), err)
	}
}

func TestEXT21ResultTypes(t *testing.T) {
	for result, want := range map[string]string{
		`{"content":[]}`:                            "",
		`{"resultType":"complete","content":[]}`:    "",
		`{"resultType":"later","content":[]}`:       `unknown resultType "later"`,
		`{"resultType":7}`:                          "unknown resultType 7",
		`{"resultType":"task","taskId":"t"}`:        `can not be answered with resultType "task"`,
		`[]`:                                        "no object",
		`{"resultType":"complete","isError":[1,2]}`: "isError is no boolean: [1,2]",
		`{"resultType":"complete","content":{"type":"text","text":"x"}}`:           "content is no list: {",
		`{"resultType":"input_required"}`:                                          "neither inputRequests nor requestState",
		`{"resultType":"input_required","inputRequests":null,"requestState":null}`: "neither inputRequests nor requestState",
		`{"resultType":"input_required","inputRequests":{}}`:                       "again",
		`{"resultType":"input_required","requestState":5}`:                         "requestState is no string: 5",
		`{"resultType":"input_required","requestState":{"a":1}}`:                   "requestState is no string: {",
		`{"resultType":"complete","resultType":"task"}`:                            "repeated",
	} {
		s, p := meet(t, "2026-07-28")
		done := start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), result)
		if want == "again" {
			p.answer(p.expect("tools/call"), `{"content":[]}`)
			want = ""
		}
		r := <-done
		var bad *client.ProtocolError
		if want == "" && r.err != nil || want != "" && !errors.As(r.err, &bad) {
			t.Errorf("%s: %v", result, r.err)
		} else if want != "" {
			has(t, r.err.Error(), want)
		}
	}
}

func TestEXT21ResultTypesOfDiscovery(t *testing.T) {
	for kind, want := range map[string]string{
		"": "", `"resultType":"complete",`: "", `"resultType":"later",`: `unknown resultType "later"`, `"resultType":5,`: "unknown resultType 5", `"resultType":null,`: "unknown resultType null",
		`"resultType":"",`: `unknown resultType ""`, `"resultType":"input_required",`: `can not be answered with resultType "input_required"`,
		`"resultType":"task",`: `can not be answered with resultType "task"`,
	} {
		ours, theirs := rpc.Pipe()
		p := &peer{t: t, conn: theirs}
		go func() {
			p.answer(p.expect("server/discover"), `{`+kind+`"supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}`)
		}()
		s, err := client.Connect(t.Context(), client.Conn(ours))
		var bad *client.ProtocolError
		switch {
		case err == nil:
			_ = s.Close()
			fallthrough
		case want == "" || !errors.As(err, &bad):
			if err != nil || want != "" {
				t.Errorf("%s: %v", kind, err)
			}
		default:
			has(t, err.Error(), want)
		}
		_ = theirs.Close()
	}
}

// What a server declares that is no object counts as nothing, and the log says so.
func TestCapabilitiesThatAreNone(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		for offered, want := range map[string]string{`{}`: "", `[]`: "capabilities=[]", `null`: "capabilities=null", `5`: "capabilities=5"} {
			var l record
			s, _ := meetOffering(t, revision, offered, l.option())
			if warns := strings.Contains(l.String(), "level=WARN"); warns != (want != "") || !strings.Contains(l.String(), want) || want != "" && s.Capabilities() != nil {
				t.Errorf("%s: %s", offered, &l)
			}
		}
	}
}

func TestEXT21OtherMethodsAreNeverTasks(t *testing.T) {
	s, p := meet(t, "2026-07-28")
	done := make(chan error, 1)
	go func() {
		for _, err := range s.ListTools(t.Context()) {
			done <- err
		}
	}()
	p.answer(p.expect("tools/list"), `{"resultType":"input_required","inputRequests":{}}`)
	var bad *client.ProtocolError
	if err := <-done; !errors.As(err, &bad) {
		t.Errorf("%v", err)
	}
}

func TestCloseEndsWhatIsInFlight(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		s, p := meet(t, revision)
		done := start(t.Context(), s, "x")
		p.expect("tools/call")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		var cause *client.Cause
		if r := <-done; !errors.As(r.err, &cause) || cause.Source != inflight.SourceShutdown {
			t.Errorf("%v", r.err)
		}
		if _, err := s.CallTool(t.Context(), "x", nil); !errors.Is(err, client.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if !errors.Is(s.Err(), client.ErrClosed) {
			t.Errorf("Err: %v", s.Err())
		}
	})
}

func TestTheEndOfTheConnectionEndsWhatIsInFlight(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		s, p := meet(t, revision)
		done := start(t.Context(), s, "x")
		p.expect("tools/call")
		_ = p.conn.Close()
		r := <-done
		var cause *client.Cause
		var lost *client.TransportError
		if !errors.As(r.err, &cause) || cause.Source != inflight.SourceDisconnect || !errors.As(r.err, &lost) {
			t.Errorf("%v", r.err)
		}
		<-s.Done()
		if !errors.As(s.Err(), &lost) {
			t.Errorf("Err: %v", s.Err())
		}
	})
}

// What breaks the protocol is an error of the request that it answers, or is left alone; the session goes on.
func TestCAN30AnswersThatCanNotBeRead(t *testing.T) {
	for frame, want := range map[string]string{
		`{"jsonrpc":"2.0","id":%s,"result":{},"error":{"code":1,"message":"x"}}`: "only one of",
		`{"jsonrpc":"2.0","id":%s}`:                                                 "required",
		`{"jsonrpc":"2.0","id":%s,"error":{"code":"x"}}`:                            "error",
		`{"jsonrpc":"1.0","id":%s,"result":{}}`:                                     "jsonrpc",
		`{"jsonrpc":"2.0","id":%s,"result":{"content":[]},"result":{"content":[]}}`: `repeated key "result"`,
		`{"jsonrpc":"2.0","jsonrpc":"2.0","id":%s}`:                                 `repeated key "jsonrpc"`,
		`{"jsonrpc":"2.0","id":%[1]s,"result":{"content":[]},"id":%[1]s}`:           `repeated key "id"`,
		`{"jsonrpc":"2.0","id":%s,"method":"ping","result":{},"result":{}}`:         `repeated key "result"`,
	} {
		s, p := meet(t, "2025-11-25")
		done := start(t.Context(), s, "x")
		p.send("banner: starting up")
		p.send(frame, p.expect("tools/call").ID)
		r := <-done
		var bad *client.ProtocolError
		if !errors.As(r.err, &bad) {
			t.Fatalf("%s: %v", frame, r.err)
		}
		has(t, r.err.Error(), want)
		done = start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), `{"content":[]}`)
		if r := <-done; r.err != nil {
			t.Error(r.err)
		}
	}
}

// TestVAL07ARequestThatRepeatsAMemberIsRefusedWithItsID: by a client, too, whose own request with the same id goes on. A frame with two
// ids answers nothing.
func TestVAL07ARequestThatRepeatsAMemberIsRefusedWithItsID(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		s, p := meet(t, revision)
		done := start(t.Context(), s, "x")
		call := p.expect("tools/call")
		p.send(`{"jsonrpc":"2.0","id":%s,"method":"ping","method":"roots/list"}`, call.ID)
		if m := p.next(); m.Error == nil || m.Error.Code != rpc.CodeInvalidRequest || string(m.ID) != string(call.ID) {
			t.Error(m.raw)
		}
		p.send(`{"jsonrpc":"2.0","id":%s,"result":%s,"id":"another"}`, call.ID, complete(revision, "wrong"))
		p.answer(call, complete(revision, "fine"))
		if r := <-done; r.err != nil || r.Text() != "fine" {
			t.Errorf("%v", r.err)
		}
	})
}

// TestCAN30AnAnswerThatNamesNoRequestEndsNone on a stream of all requests, though only one is open. An error without an id does, which says that the
// request could not be read.
func TestCAN30AnAnswerThatNamesNoRequestEndsNone(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		s, p := meet(t, revision)
		done := start(t.Context(), s, "x")
		call := p.expect("tools/call")
		for _, id := range []string{``, `"id":null,`, `"id":{},`, `"id":[],`, `"id":true,`, `"id":99999.5,`} {
			p.send(`{"jsonrpc":"2.0",%s"result":{}}`, id)
			if id != "" && id != `"id":null,` {
				p.send(`{"jsonrpc":"2.0",%s"error":{"code":-32600,"message":"not yours"}}`, id)
			}
		}
		p.answer(call, complete(revision, "fine"))
		if r := <-done; r.err != nil || r.Text() != "fine" {
			t.Errorf("%v", r.err)
		}
	})
}

// TestVAL07ARefusalOfARepeatedMemberIsAnError: of the call that it names, and without an id of the only one that there is.
func TestVAL07ARefusalOfARepeatedMemberIsAnError(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		s, p := meet(t, revision)
		for _, id := range []string{"", `"id":null,`, "named"} {
			done := start(t.Context(), s, "x")
			if m := p.expect("tools/call"); id == "named" {
				id = `"id":` + string(m.ID) + `,`
			}
			p.send(`{"jsonrpc":"2.0",%s"error":{"code":-32600,"message":"repeated key"}}`, id)
			var refused *rpc.Error
			if r := <-done; !errors.As(r.err, &refused) || refused.Code != rpc.CodeInvalidRequest {
				t.Errorf("%s: %v", id, r.err)
			}
		}
	})
}

func TestUnknownRequestsAndPingsAreAnswered(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		_, p := meet(t, revision)
		p.send(`{"jsonrpc":"2.0","id":"a","method":"sampling/createMessage","params":{}}`)
		if m := p.next(); m.Error == nil || m.Error.Code != rpc.CodeMethodNotFound || string(m.ID) != `"a"` {
			t.Error(m.raw)
		}
		if revision == "2026-07-28" {
			return
		}
		p.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
		if m := p.next(); string(m.Result) != "{}" || string(m.ID) != "7" {
			t.Error(m.raw)
		}
	})
}
