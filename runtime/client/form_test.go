package client_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// A form that nobody could fill in is refused, and no user is asked.
func TestFormsThatNobodyCouldFillInAreRefused(t *testing.T) {
	for schema, want := range map[string]string{
		`7`:                "it must be the form, an object, and is number",
		`{"type":"array"}`: "type array",
		`{"type":"object","properties":{"a":{"type":"object"}}}`:                                    "no form has the type object",
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}}}`:          "of type integer",
		`{"type":"object","properties":{"a":{"type":"integer","default":1.5}}}`:                     "its default: 1.5 is no integer",
		`{"type":"object","properties":{"a":{"type":"string","enum":["x"],"default":"y"}}}`:         "none of the choices",
		`{"type":"object","required":["b"],"properties":{"a":{"type":"string"}}}`:                   "requires b",
		`{"type":"object","properties":{"a":{"type":"string","minLength":"2"}}}`:                    "can not be read",
		`{"type":"object","properties":{"a":{"type":["string","null"],"description":"two types"}}}`: "can not be read",
	} {
		asked := 0
		handler := elicits(func(context.Context, *client.Question) (*client.Answer, error) {
			asked++
			return &client.Answer{Action: client.Declined}, nil
		})
		synctest.Test(t, func(t *testing.T) {
			_, p := meet(t, "2025-11-25", handler)
			p.send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":%s}}`, schema)
			m := p.next()
			if m.Error == nil || m.Error.Code != -32602 {
				t.Fatalf("%s: %s", schema, m.raw)
			}
			has(t, m.Error.Message, want)
		})
		synctest.Test(t, func(t *testing.T) {
			s, p := meet(t, "2026-07-28", handler)
			done := start(t.Context(), s, "x")
			p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"?","requestedSchema":`+schema+`}}}}`)
			if r := <-done; r.err == nil {
				t.Errorf("%s: no error", schema)
			}
		})
		if asked > 0 {
			t.Errorf("%s: the user was asked", schema)
		}
	}
}

func TestAnswersAreHeldAgainstTheForm(t *testing.T) {
	q := &client.Question{Schema: json.RawMessage(`{"type":"object","required":["name"],"properties":{
		"name":{"type":"string","minLength":2.0,"maxLength":0.5e1},"age":{"type":"integer","minimum":0,"maximum":150,"default":30},
		"share":{"type":"number","minimum":-0.1,"maximum":0},
		"mail":{"type":"string","format":"email"},"day":{"type":"string","format":"date"},"ok":{"type":"boolean"},
		"one":{"type":"string","enum":["a","b"]},"titled":{"type":"string","oneOf":[{"const":"x","title":"X"}]},
		"many":{"type":"array","minItems":1.0,"maxItems":20e-1,"items":{"anyOf":[{"const":"p"},{"const":"q"}]}}}}`)}
	for content, want := range map[string]string{
		`{"name":"größe"}`:                               `{"age":30,"name":"größe"}`,
		`{"name":"ab","age":7.0,"one":"b","many":["p"]}`: `{"age":7.0,"many":["p"],"name":"ab","one":"b"}`,
		`{}`:                           "name is required",
		`{"name":"a"}`:                 "at least 2",
		`{"name":"abcdef"}`:            "at most 5",
		`{"name":7}`:                   "type string",
		`{"name":"ab","age":1.5}`:      "no integer",
		`{"name":"ab","age":151}`:      "at most 150",
		`{"name":"ab","age":1e-400}`:   "no integer", // 0 as a float64
		`{"name":"ab","share":1e-400}`: "at most 0",
		`{"name":"ab","share":-0.1000000000000000000001}`: "at least -0.1",
		`{"name":"ab","share":-1e-400}`:                   `{"age":30,"name":"ab","share":-1e-400}`,
		`{"name":"ab","share":1e99999999}`:                "too large",
		`{"name":"ab","mail":"x"}`:                        "mail",
		`{"name":"ab","day":"today"}`:                     "day",
		`{"name":"ab","ok":"yes"}`:                        "type boolean",
		`{"name":"ab","one":"c"}`:                         "none of the choices",
		`{"name":"ab","titled":"y"}`:                      "none of the choices",
		`{"name":"ab","many":[]}`:                         "at least 1 item",
		`{"name":"ab","many":["p","q","p"]}`:              "at most 2",
		`{"name":"ab","many":["z"]}`:                      "none of the choices",
		`{"name":"ab","more":1}`:                          "no field more",
		`{"name":"ab","ok":{"a":true}}`:                   "no type that a form has",
		`[]`:                                              "must be an object",
	} {
		got, err := q.Complete(json.RawMessage(content))
		if err != nil {
			has(t, err.Error(), want)
		} else if string(got) != want {
			t.Errorf("%s: %s, want %s", content, got, want)
		}
	}
	if _, err := q.Complete(json.RawMessage(`{"name":"ab","many":[]}`)); err == nil || strings.Contains(err.Error(), "items") {
		t.Errorf("%v: it is one item", err)
	}
}
