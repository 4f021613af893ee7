package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/argument"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// TestTSK27WhatAServerSaysStaysOnItsLine: a line of its own would look like one of this command.
func TestTSK27WhatAServerSaysStaysOnItsLine(t *testing.T) {
	said := &client.Error{Code: 1, Message: "no\nmcpkiln: paid"}
	for _, err := range []error{said, withStatus(said), fmt.Errorf("it says: %w", said)} {
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
