package client_test

import (
	"errors"
	"strings"
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
			`{"content":[{"type":"text","text":"x"},null]}`: "content[1] is no object: null",
			`{"content":[]}`: "",
		} {
			if revision == "2025-11-25" && strings.Contains(result, `"task":`) {
				want = "which it has not asked for"
			}
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

// TestEXT21ABlockHasWhatItsTypeRequires, in every revision. A block of a type that none of them has is left to its reader, and spoils no other.
func TestEXT21ABlockHasWhatItsTypeRequires(t *testing.T) {
	s, p := meet(t, "2026-07-28")
	for block, want := range map[string]string{
		`{"type":"text","text":""}`:                                    "",
		`{"text":"","type":"text","new":[1]}`:                          "",
		`{"type":"image","data":"","mimeType":""}`:                     "",
		`{"type":"audio","mimeType":"","data":""}`:                     "",
		`{"type":"resource_link","name":"","uri":""}`:                  "",
		`{"type":"resource","resource":{"uri":"","text":""}}`:          "",
		`{"type":"resource","resource":{"blob":"","uri":""}}`:          "",
		`{"type":"resource","resource":{"blob":"","uri":"","text":5}}`: "",
		`{"type":"later","text":5}`:                                    "",

		`5`:                                "content[1] is no object: 5",
		`{}`:                               "content[1].type is missing",
		`{"text":"x"}`:                     "content[1].type is missing",
		`{"type":null,"text":"x"}`:         "content[1].type is no string: null",
		`{"type":"text"}`:                  "content[1].text is missing",
		`{"type":"text","text":{"a":[1]}}`: `content[1].text is no string: {"a":[1]}`,
		`{"type":"image","mimeType":"image/png"}`:             "content[1].data is missing",
		`{"type":"image","data":"","mimeType":null}`:          "content[1].mimeType is no string: null",
		`{"type":"audio","data":""}`:                          "content[1].mimeType is missing",
		`{"type":"resource_link","uri":"file:///a"}`:          "content[1].name is missing",
		`{"type":"resource_link","name":"a"}`:                 "content[1].uri is missing",
		`{"type":"resource","uri":"","text":""}`:              "content[1].resource is missing",
		`{"type":"resource","resource":"file:///a"}`:          `content[1].resource is no object: "file:///a"`,
		`{"type":"resource","resource":{"uri":"a"}}`:          "content[1].resource has neither text nor blob",
		`{"type":"resource","resource":{"text":"a"}}`:         "content[1].resource.uri is missing",
		`{"resource":{"uri":"a","blob":5},"type":"resource"}`: "content[1].resource has no string as its text or blob",
	} {
		done := start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), `{"resultType":"complete","content":[{"type":"text","text":"x"}, `+block+` ,{"type":"text","text":"y"}]}`)
		r := <-done
		var bad *client.ProtocolError
		switch {
		case want == "" && r.err != nil, want != "" && !errors.As(r.err, &bad):
			t.Errorf("%s: %v", block, r.err)
		case want != "" && !strings.HasSuffix(r.err.Error(), "in its answer to tools/call: "+want):
			t.Errorf("%s: %v", block, r.err)
		}
	}
}

// TestEXT21ATaskIsNotItsOwnResult has a tasks/result that names the task once more.
func TestEXT21ATaskIsNotItsOwnResult(t *testing.T) {
	s, p := meetOffering(t, "2025-11-25", taskOffers)
	p.offerTask(s)
	done := start(t.Context(), s, "x")
	const state = `"taskId":"t1","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null,"pollInterval":1,"status":`
	go p.each(func(m message) {
		switch m.Method {
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
