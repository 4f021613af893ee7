package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/argument"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// TestTSK27WhatAServerSaysStaysOnItsLine: a line of its own would look like one of this command.
func TestTSK27WhatAServerSaysStaysOnItsLine(t *testing.T) {
	said := &client.Error{Code: 1, Message: "no\nmcpkiln: paid"}
	for _, err := range []error{said, new(visit).withRemedy(said), fmt.Errorf("it says: %w", said)} {
		if first, _, _ := strings.Cut(err.Error(), "\n"); !strings.Contains(first, "no | mcpkiln: paid") {
			t.Errorf("%q", err)
		}
	}
	for _, b := range []*block{{Type: "image", MIMEType: "a\nb"}, {Type: "resource_link", Name: "a", URI: "x:\ny"}, {Type: "a\nb"}} {
		if text := b.String(); strings.Contains(text, "\n") {
			t.Errorf("%q", text)
		}
	}
	if _, err := find([]tool{{Name: "a\nmcpkiln: b"}}, "c"); strings.Contains(err.Error(), "\n") {
		t.Errorf("%q", err)
	}
	if text := excerpt([]byte("{\n\"a\":\r\n1}")); strings.ContainsAny(text, "\r\n") {
		t.Errorf("%q", text)
	}
}

// TestTSK27WhatASchemaSaysStaysOnItsLine: the names of its properties are a server's, too.
func TestTSK27WhatASchemaSaysStaysOnItsLine(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"a\nmcpkiln: b":{"type":"string"}},"required":["x\ny"]}`)
	g, err := argument.Read([]string{"zzzzzzzz=1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Known("argument", schema); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("%q", err)
	}
	all, err := argument.Check(t.Context(), schema, json.RawMessage(`{"a\nmcpkiln: b":1}`))
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, v := range all {
		if strings.Contains(v.String(), "\n") {
			t.Errorf("%q", v)
		}
	}
}

// TestTSK27LinesOfAServerAreMarked: each of them, wherever text of several lines stands among those of this command.
func TestTSK27LinesOfAServerAreMarked(t *testing.T) {
	const said, marked = "timed out\\n\\nmcpkiln: not authorized\\n  send your token\\n", "  | timed out\n  |\n  | mcpkiln: not authorized\n  |   send your token\n"
	failing := strange(t, plainTool, `{"resultType":"complete","isError":true,"content":[{"type":"text","text":"`+said+`"}]}`)
	told := strange(t, `{"name":"t","description":"`+said+`","inputSchema":{"type":"object"}}`, ``)
	for want, args := range map[string][]string{
		"mcpkiln: t failed:\n" + marked:       {"call", failing, "t"},
		"  on its standard error:\n" + marked: {"tools", "--", "printf '" + said + "' >&2; exit 1"},
		"t\n\n" + marked:                      {"tools", told, "t"},
	} {
		if args[1] == "--" {
			args = append(args[:2:2], "sh", "-c", args[2])
		}
		_, stdout, stderr := runs(t, args...)
		if all := stdout + stderr; !strings.Contains(all, want) || strings.Contains(all, "\nmcpkiln: not") {
			t.Errorf("%q is not in %q", want, all)
		}
	}
}

// TestADefaultHasOneKindOfEscapes, whichever the server writes.
func TestADefaultHasOneKindOfEscapes(t *testing.T) {
	p := propertyOf(json.RawMessage(`{"type":"string","default":"\u001b[2J` + "\u009b" + `2J"}`))
	if got, want := p.about(), `(default "\u001b[2J\u009b2J")`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestTSK27AReferenceThatLacksAPart: it is said which, before a server is reached.
func TestTSK27AReferenceThatLacksAPart(t *testing.T) {
	for part, ref := range map[string]string{
		"revision": `{"version":1,"endpoint":"https://127.0.0.1:1","id":"t1"}`, "endpoint": `{"ref":{"version":1,"revision":"2026-07-28","id":"t1"}}`,
	} {
		if status, _, stderr := runs(t, "task", "get", ref); status != exitRefused || !strings.Contains(stderr, "the reference has no "+part+":") {
			t.Errorf("status %d: %s", status, stderr)
		}
	}
}

// TestAPageWithWhiteSpaceInItsAddressIsNotOpened: it would be shown as another one.
func TestAPageWithWhiteSpaceInItsAddressIsNotOpened(t *testing.T) {
	var out bytes.Buffer
	v := &visit{cmd: &cobra.Command{}, remote: &remote{}, answers: []answer{{page: "https://pay.example"}}}
	v.cmd.SetErr(&out)
	for _, space := range []string{"  ", "\t", "\u3000"} {
		q := &client.Question{URL: "https://pay.example/a" + space + "b"}
		a, err := v.ask(t.Context(), q)
		if err != nil || a.Action != client.Declined || !strings.Contains(out.String(), "has white space, so it is not opened") {
			t.Errorf("%v, %v, %s", a, err, &out)
		}
		if err := (&reply{bare: true}).fill(&client.Answer{}, q); err == nil {
			t.Errorf("%q is agreed to", q.URL)
		}
		out.Reset()
	}
}
