package client_test

import (
	"errors"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// TestEXT21AResultWithoutContentIsNoSuccess has results of tools/call that break the schema that they have in every revision.
func TestEXT21AResultWithoutContentIsNoSuccess(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		s, p := meet(t, revision)
		for result, want := range map[string]string{
			`{}`:               "no content",
			`{"toolResult":5}`: "no content",
			`{"task":{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}}`: "no content",
			`{"content":null}`: "its content is no list: null",
			`{"content":[{"type":"text","text":"x"},null]}`: "a block that is no object, at index 1: null",
			`{"content":[]}`: "",
			`{"content":[{"type":"later"}, {},{"text":"","type":"text","new":[1]}]}`:                                                               "",
			`{"content":[{"type":"image","data":"","mimeType":""},{"type":"resource","resource":{}},{"type":"resource_link","name":"","uri":""}]}`: "",
		} {
			done := start(t.Context(), s, "x")
			m := p.next()
			if m.Method == "tools/list" {
				p.answer(m, `{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`)
				m = p.next()
			}
			p.answer(m, result)
			r := <-done
			var bad *client.ProtocolError
			if want == "" && r.err != nil || want != "" && !errors.As(r.err, &bad) {
				t.Errorf("%s: %v", result, r.err)
			} else if want != "" {
				has(t, r.err.Error(), "tools/call", want)
			}
		}
	})
}

// TestEXT21ATaskIsNotItsOwnResult has a tasks/result that names the task once more.
func TestEXT21ATaskIsNotItsOwnResult(t *testing.T) {
	s, p := meetOffering(t, "2025-11-25", taskOffers)
	done := start(t.Context(), s, "x")
	const state = `"taskId":"t1","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null,"pollInterval":1,"status":`
	go p.each(func(m message) {
		switch m.Method {
		case "tools/list":
			p.answer(m, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
		case "tools/call":
			p.answer(m, `{"task":{`+state+`"working"}}`)
		case "tasks/get":
			p.answer(m, `{`+state+`"completed"}`)
		case "tasks/result":
			p.answer(m, `{"task":{`+state+`"completed"}}`)
		}
	})
	r := <-done
	var bad *client.ProtocolError
	if !errors.As(r.err, &bad) {
		t.Fatalf("%v, %+v", r.err, r)
	}
	has(t, r.err.Error(), "no content")
}
