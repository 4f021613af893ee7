package manifest

import (
	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/runtime/check/secret"
	"github.com/mcpkiln/mcpkiln/schema"
)

// A form passes through the client and often through its model, so the specification forbids asking for secrets in one. The runtime does not send
// such a form, so it is an error here, although it is recognised only by its words; x-sensitive decides without them. Links that users may follow are
// forbidden, too (LET04), but whether a text contains one is less certain: a warning.

// secret reports a field that asks for a secret.
func (l *loader) secret(message *schema.Node, m schema.Member) {
	n := m.Value
	if s := n.Get("x-sensitive"); s.Is(schema.Bool) {
		if s.Text == "true" {
			l.ds.Report(s, "elicitation-secret", "ask with a URL question (methods: [elicitation/create], mode url)", "a form must not ask for what is sensitive")
		}
		return
	}
	kind := textOf(n.Get("type"))
	number := kind == "integer" || kind == "number"
	if kind != "" && kind != "string" && !number || n.Get("enum") != nil || n.Get("oneOf") != nil || n.Get("format") != nil {
		return
	}
	f := secret.Field{Name: m.Key, Title: textOf(n.Get("title")), Description: textOf(n.Get("description")), Message: textOf(message), Number: number}
	if why := f.Asked(); why != "" {
		l.ds.ReportAt(m.KeyPos, n.Pointer, "elicitation-secret", secret.Remedy, "%s", why)
	}
}

// textOf is the text of a string, "" of anything else.
func textOf(n *schema.Node) string {
	if n.Is(schema.String) {
		return n.Text
	}
	return ""
}

var link = lazyregexp.New(`(?i)\bhttps?://|\bwww\.[a-z0-9-]+\.`)

// links warns of URLs in texts that users read.
func (l *loader) links(texts ...*schema.Node) {
	for _, n := range texts {
		if n.Is(schema.String) && link().MatchString(n.Text) {
			l.ds.Warn(n, "elicitation-url", "name the page in words, or ask with a URL question (methods: [elicitation/create], mode url)", "a form should hold no URL: users may follow it")
		}
	}
}

// linksWithin is links for all texts in a form that a user may see: titles, descriptions, defaults and choices. A field with format uri may have a URL
// as its value.
func (l *loader) linksWithin(n *schema.Node) {
	n.Walk(func(n *schema.Node) bool {
		l.links(n.Get("title"), n.Get("description"))
		if f := n.Get("format"); f.Is(schema.String) && f.Text == "uri" {
			return true
		}
		l.links(n.Get("const"), n.Get("default"))
		for _, list := range []string{"enum", "enumNames", "default"} {
			if choices := n.Get(list); choices.Is(schema.Array) {
				l.links(choices.Items...)
			}
		}
		return true
	})
}
