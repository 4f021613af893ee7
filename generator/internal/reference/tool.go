package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/subsume"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// tools adds a section for each tool.
func (m *maker) tools() {
	if len(m.Manifest.Tools) == 0 {
		return
	}
	m.section("tools", "Tools")
	for i := range m.Manifest.Tools {
		t := &m.Manifest.Tools[i]
		j := slices.IndexFunc(m.Package.Tools, func(made *model.Tool) bool { return made.Name == t.Name })
		m.tool(t, m.Package.Tools[j])
	}
}

func (m *maker) tool(t *manifest.Tool, made *model.Tool) {
	m.entry("tool", t.Name)
	if t.Title.Value != "" {
		m.say(text(sentence(t.Title.Value)))
	}
	m.paragraphs(t.Description.Value)
	m.say(hints(t.Annotations))
	m.schemaOf(t.Input, "It takes:", "It takes no arguments.")
	if t.Output == nil {
		m.say(text("It answers with content: texts, pictures, sounds or resources."))
	} else {
		m.schemaOf(t.Output, "It answers with:", "It answers with structured content that its schema says no more of.")
	}
	m.example(t)
	m.questions(t.Elicitations)
	m.clientCapabilities(t.ClientCapabilities)
	m.add(Paragraph{text("How it runs:")}, List{limits(made)})
	m.add(Paragraph{cancelling(made)})
}

// hints are a tool's annotations in words. They are claims of the server: clients need not trust them.
func hints(n *schema.Node) Text {
	var all []Text
	for _, h := range []struct{ key, yes, no string }{
		{"readOnlyHint", "It changes nothing.", "It may change things."},
		{"destructiveHint", "It may destroy something.", "It destroys nothing."},
		{"idempotentHint", "Calling it again with the same arguments changes nothing more.", ""},
		{"openWorldHint", "It reaches beyond the server.", "It stays within the server."},
	} {
		if v := n.Get(h.key); v.Is(schema.Bool) {
			all = append(all, text(map[bool]string{true: h.yes, false: h.no}[v.Text == "true"]))
		}
	}
	return join(" ", all...)
}

// example adds the params and the result of a call that the schemas allow.
func (m *maker) example(t *manifest.Tool) {
	in := exampleOf(t.Input)
	if in == nil {
		return
	}
	params := object("name", quoted(t.Name), "arguments", string(in.JSON()))
	m.add(Paragraph{text("For example, the params of tools/call:")}, Code{"json", indented(params)})
	if t.Output == nil {
		return
	}
	if out := exampleOf(t.Output); out != nil {
		answer := string(out.JSON())
		content := "[" + object("type", quoted("text"), "text", quoted(answer)) + "]"
		m.add(Paragraph{text("and an answer:")}, Code{"json", indented(object("content", content, "structuredContent", answer))})
	}
}

// exampleOf is a small value that a schema allows; nil if none is found.
func exampleOf(d *schema.Document) *schema.Node {
	if d == nil {
		return nil
	}
	if v := d.Example(); v != nil {
		return v
	}
	return subsume.Satisfy(d).Value
}

// object writes a JSON object of keys and the JSON of their values.
func object(pairs ...string) string {
	var b bytes.Buffer
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "%s%s:%s", map[bool]string{true: "{", false: ","}[i == 0], quoted(pairs[i]), pairs[i+1])
	}
	return b.String() + "}"
}

func quoted(s string) string { return schema.QuoteJSON(s) }

// indented is indented JSON. Control characters and bidirectional controls, which only strings can contain, are written as \u escapes.
func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	var out strings.Builder
	for _, r := range b.String() {
		if unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) && r != '\n' {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// questions adds the questions of a tool or an entry.
func (m *maker) questions(all []manifest.Elicitation) {
	for i := range all {
		e := &all[i]
		m.say(append(text("It may ask the user ("), Span{Text: e.Name, Code: true}, Span{Text: "): " + sentence(e.Message.Value)}))
		m.schemaOf(e.Schema, "The answer has:", "The answer is accepting or declining.")
		without := map[manifest.OnUnsupported]string{
			manifest.Decline: "Where the client can not ask its user, that counts as declining.",
			manifest.Default: "Where the client can not ask its user, the defaults are taken for the answer.",
		}[e.OnUnsupported]
		if without == "" {
			without = "Where the client can not ask its user, it fails."
		}
		if d := e.Timeout.Value; d > 0 {
			without += " The question waits " + model.Short(d) + " for an answer."
		}
		m.say(text(without))
	}
}

// clientCapabilities adds the client capabilities that a handler's requests need.
func (m *maker) clientCapabilities(all []manifest.Text) {
	var names []Text
	for _, t := range all {
		names = append(names, code(t.Value))
	}
	if names != nil {
		m.say(append(append(text("It asks the client for "), join(", ", names...)...), Span{Text: ". A client that lacks any of these may be refused."}))
	}
}

// limits are the ways in which a tool runs, and its limits, as points of a list.
func limits(t *model.Tool) (all []Text) {
	all = append(all, text(map[model.TaskSupport]string{
		model.TaskForbidden: "Inline: the call waits for the answer.",
		model.TaskOptional:  "Inline, or as a task where the client asks for one or knows tasks.",
		model.TaskRequired:  "Always as a task: the call returns at once, and the client follows the task.",
	}[t.Task.Support]))
	point := func(format string, args ...any) { all = append(all, text(fmt.Sprintf(format, args...))) }
	open := notCounted(len(t.Questions))
	if d := t.Cancel.Timeout; d > 0 && t.Task.Support != model.TaskRequired {
		point("An inline call ends after %s%s.", model.Short(d), open)
	}
	if d := t.Task.Timeout; d > 0 && t.Task.Support != model.TaskForbidden {
		point("A task ends after %s%s.", model.Short(d), open)
	}
	if t.Task.Support != model.TaskForbidden {
		if d := t.Task.TTL; d > 0 {
			point("A task and its result are kept for %s, if the client asks for nothing else.", model.Short(d))
		}
		if d := t.Task.MaxTTL; d > 0 {
			point("They are kept for %s at most.", model.Short(d))
		}
		if d := t.Task.PollInterval; d > 0 {
			point("Looking at it every %s is enough.", model.Short(d))
		}
	}
	if n := t.MaxConcurrent; n > 0 {
		point("At most %d of its calls run at once in a process. Others wait their turn.", n)
	}
	return all
}

// notCounted says that a timeout does not count the time in which the user answers.
func notCounted(questions int) string {
	if questions == 0 {
		return ""
	}
	return ", not counting the time in which a question is open"
}

// cancelling says what cancelling does to a call.
func cancelling(t *model.Tool) Text {
	if !t.Cancel.Uncancellable {
		return text("A call can be cancelled: its work is told to stop, and a cancelled call is not answered.")
	}
	if t.Cancel.Because != "" {
		return text("A call can not be cancelled, because " + sentence(t.Cancel.Because) + " It runs to its end, and has no timeout.")
	}
	return text("A call can not be cancelled: it runs to its end, and has no timeout.")
}
