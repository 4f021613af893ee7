package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// A handler sends a user to no page that is a script or a file, tells a password, or is read on its way.
func TestLET01PagesAreForUsers(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.com/connect": "", "http://localhost:8080/connect": "",
		"javascript:alert(1)": "/url: ", "file:///etc/passwd": "/url: ", "http://example.com/connect": "write an https URL", "https://u:p@example.com/": "no password",
	} {
		err := contradiction(wire.OpElicit, []byte(`{"mode":"url","message":"m","url":"`+url+`"}`))
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// A model that was given no tools can not have used one: the handler gets no such message (LET12).
func TestLET12WhatTheModelSaidFitsTheToolsItWasGiven(t *testing.T) {
	const (
		use  = `{"type":"tool_use","id":"u","name":"x","input":{}}`
		text = `{"type":"text","text":"tools"}`
	)
	answer := func(content, stop string) string {
		return `{"role":"assistant","model":"m","content":` + content + `,"stopReason":"` + stop + `"}`
	}
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	c := f.dial(t.Context())
	c.initialize(`{"sampling":{"tools":{}}}`)
	c.fence()
	session := sessionsOf(f.srv)[0]
	for _, row := range []struct{ params, answer, want string }{
		{`{}`, answer(text, "endTurn"), ""}, {`{}`, answer("["+text+"]", "tool"), ""},
		{`{}`, answer(use, "endTurn"), `/content: the tool use "u"`}, {`{}`, answer("["+text+","+use+"]", "endTurn"), "/content: "},
		{`{}`, answer(text, "toolUse"), "/stopReason: "}, {`{}`, answer(text, `tool\u0055se`), "/stopReason: "}, {`{"tools":[]}`, answer(use, "toolUse"), "/content: "},
		{`{}`, answer(use, `endTurn","Content":[],"CONTENT":"`), "/content: "}, {`{}`, answer(text, `toolUse","StopReason":"endTurn`), "/stopReason: "},
		{`{"Tools":[{"name":"x","inputSchema":{"type":"object"}}]}`, answer(use, "toolUse"), "/content: "},
		{`{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`, answer(use, "toolUse"), ""},
	} {
		ended := make(chan error)
		go func() {
			_, err := Send(t.Context(), session, &sample, "s", &rawResult{row.params})
			ended <- err
		}()
		c.reply(c.next(), row.answer)
		var broken *AnswerError
		if err := <-ended; errors.As(err, &broken) != (row.want != "") || broken != nil && !strings.Contains(broken.Error(), row.want) {
			t.Errorf("%s: %s: %v", row.params, row.answer, err)
		}
	}
}
