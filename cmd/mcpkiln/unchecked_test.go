package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/argument"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// undecidable is a tool by whose schemas the validator reaches no verdict in a lifetime.
func undecidable() *tool {
	defs := []string{`"d0":{"type":"string"}`}
	for i := range 60 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, i, i))
	}
	schema := json.RawMessage(`{"properties":{"a":{"$ref":"#/$defs/d60"}},"$defs":{` + strings.Join(defs, ",") + `}}`)
	return &tool{Name: "t", InputSchema: schema, OutputSchema: schema}
}

// checking is a visit that only checks, and what it writes to standard error.
func checking(ctx context.Context, timeout time.Duration) (*visit, *bytes.Buffer) {
	var stderr bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetErr(&stderr)
	return &visit{remote: &remote{timeout: timeout}, cmd: cmd, ctx: ctx}, &stderr
}

// TestVAL09WhatASchemaNeverDecidesIsNotChecked: arguments are sent and results are shown, and the user hears of it.
func TestVAL09WhatASchemaNeverDecidesIsNotChecked(t *testing.T) {
	given, err := argument.Read([]string{"a=1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, stderr := checking(t.Context(), time.Millisecond)
	if in, err := v.arguments(undecidable(), given); err != nil || string(in) != `{"a":"1"}` {
		t.Errorf("%s, %v", in, err)
	}
	if err := v.checkResult(undecidable(), &client.ToolResult{StructuredContent: json.RawMessage(`{"a":"1"}`)}); err != nil {
		t.Error(err)
	}
	const want = "mcpkiln: the arguments of t are sent unchecked: its inputSchema gives no verdict within 1ms\n" +
		"mcpkiln: the result of t is shown unchecked: its outputSchema gives no verdict within 1ms\n"
	if stderr.String() != want {
		t.Errorf("%s", stderr)
	}
}

// TestWhatASchemaHasThatIsNotSupportedIsNotChecked: arguments are sent and results are shown, and the user hears why they are not checked. What is wrong with
// a schema that has such a part is wrong all the same.
func TestWhatASchemaHasThatIsNotSupportedIsNotChecked(t *testing.T) {
	const lookahead = `a pattern that this command can not match, "^(?=.*[0-9]).+$"`
	for part, why := range map[string]string{
		`"properties":{"a":{"type":"integer"},"p":{"pattern":"^(?=.*[0-9]).+$"}}`: "has " + lookahead,
		`"patternProperties":{"^(?=.*[0-9]).+$":{"type":"string"}}`:               "has " + lookahead,
		`"properties":{"a":{"$ref":"https://example.com/s.json"}}`:                "refers to https://example.com/s.json, which is outside of it, and nothing is fetched",
		`"properties":{"a":{"$ref":"other.json#/a"}}`:                             "refers to other.json, which is outside of it, and nothing is fetched",
		`"$schema":"https://example.com/draft"`:                                   "refers to https://example.com/draft, which is outside of it, and nothing is fetched",
	} {
		v, stderr := checking(t.Context(), 0)
		given, err := argument.Read([]string{"a:=true"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		one := &tool{Name: "t", InputSchema: json.RawMessage(`{` + part + `}`), OutputSchema: json.RawMessage(`{` + part + `}`)}
		if in, err := v.arguments(one, given); err != nil || string(in) != `{"a":true}` {
			t.Errorf("%s: %s, %v", part, in, err)
		}
		if err := v.checkResult(one, &client.ToolResult{StructuredContent: json.RawMessage(`{"a":true}`)}); err != nil {
			t.Errorf("%s: %v", part, err)
		}
		want := "mcpkiln: the arguments of t are sent unchecked: its inputSchema " + why + "\nmcpkiln: the result of t is shown unchecked: its outputSchema " + why + "\n"
		if stderr.String() != want {
			t.Errorf("%s: %s", part, stderr)
		}
		one.InputSchema = json.RawMessage(`{` + part + `,"minProperties":"x"}`)
		if _, err := v.arguments(one, given); err == nil && !strings.Contains(part, `"$schema"`) {
			t.Errorf("%s: a schema that is none is used", part)
		}
	}
}

// TestVAL09TheUserEndsACheck: nothing is sent then.
func TestVAL09TheUserEndsACheck(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)
	v, stderr := checking(ctx, 0)
	given, err := argument.Read([]string{"a=1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.arguments(undecidable(), given); !errors.Is(err, errInterrupted) || stderr.Len() > 0 {
		t.Errorf("%v, %s", err, stderr)
	}
	var ended *statusError
	if err := v.status(errors.New("follows from that")); !errors.As(err, &ended) || ended.status != exitInterrupted {
		t.Error(err)
	}
}

// TestVAL09TheTimeOfACheckIsBounded: by the call's, if that is less.
func TestVAL09TheTimeOfACheckIsBounded(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{0: maxCheckTime, time.Second: time.Second, time.Hour: maxCheckTime} {
		if v, _ := checking(t.Context(), timeout); v.checkTime() != want {
			t.Errorf("%v: %v, want %v", timeout, v.checkTime(), want)
		}
	}
}
