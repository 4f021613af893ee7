package client_test

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// The error of a failed task is an error like any other: with data of any kind, and with members of the exact names only.
func TestTSK27AFailedTaskHasTheErrorOfItsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2026-07-28", taskOffers)
		done := start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), taskIs("task", "working", ""))
		p.answer(p.expect("tasks/get"), taskIs("complete", "failed", `,"error":{"code":-32603,"message":"no disk","data":{"free":0},"Code":1,"Message":"?"}`))
		var said *client.Error
		if err := (<-done).err; !errors.As(err, &said) || said.Code != -32603 || said.Message != "no disk" || string(said.Data) != `{"free":0}` {
			t.Errorf("%v: %+v", err, said)
		}
	})
}

// A member whose name differs only in case is another member.
func TestLET12NamesOfAFormAndATextMatchExactly(t *testing.T) {
	q := &client.Question{Schema: json.RawMessage(`{"type":"object","Type":"array","properties":{"a":{"type":"string","Type":"boolean","maxLength":1,"MaxLength":9}}}`)}
	if text, err := q.Complete(map[string]string{"a": "x"}); err != nil || string(text) != `{"a":"x"}` {
		t.Errorf("%s, %v", text, err)
	}
	if text, err := q.Complete(map[string]string{"a": "too long"}); err == nil {
		t.Errorf("%s was taken", text)
	}
	r := &client.ToolResult{Content: json.RawMessage(`[{"type":"text","text":"a","Text":"b"}]`)}
	if text := r.Text(); text != "a" {
		t.Error(text)
	}
}
