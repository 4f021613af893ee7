package manifest

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/schema"
)

var questionNames = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]*$`)

const longestQuestionName = 64

func (l *loader) elicitations(all *[]Elicitation, n *schema.Node) {
	if !l.is(n, schema.Object) {
		return
	}
	for _, m := range n.Members {
		if !questionNames().MatchString(m.Key) || len(m.Key) > longestQuestionName {
			l.ds.ReportAt(m.KeyPos, m.Value.Pointer, "elicitation-name", "start with a letter; use letters, digits, _ and -, 64 at most",
				"%.80q is no name for a question", m.Key)
		}
		*all = append(*all, l.elicitation(m))
	}
}

// clientCapabilities reads the client capabilities that requests of a handler need. Package lower, which knows the revisions, checks their names.
func (l *loader) clientCapabilities(all *[]Text) func(*schema.Node) {
	return func(n *schema.Node) {
		*all = l.texts(n)
		if n.Kind == schema.Array && len(n.Items) == 0 {
			l.ds.Report(n, "empty-list", "leave it out, or list what the handler's requests take, such as sampling", "clientCapabilities lists nothing")
		}
	}
}

func (l *loader) elicitation(m schema.Member) Elicitation {
	e := Elicitation{Name: m.Key, Pos: m.KeyPos, Node: m.Value}
	l.fields(m.Value, "an elicitation", map[string]func(*schema.Node){
		"goName":        l.goName(&e.GoName),
		"message":       l.into(&e.Message),
		"schema":        func(n *schema.Node) { e.Schema = l.question(n, m.Value.Get("message")) },
		"timeout":       l.duration(&e.Timeout),
		"beforeTask":    l.flag(&e.BeforeTask),
		"onUnsupported": func(n *schema.Node) { e.OnUnsupported = choice(l, n, Fail, Decline, Default) },
	}, "message", "schema")
	l.links(m.Value.Get("message"))
	if e.Schema != nil {
		l.defaultsFit(e)
	}
	if e.OnUnsupported == Default && e.Schema != nil {
		l.answerable(e)
	}
	return e
}

// defaultsFit checks that the defaults of a form fit their fields: the runtime does not send another form, in which who accepts what is shown would give a
// wrong answer (LET01).
func (l *loader) defaultsFit(e Elicitation) {
	properties := e.Schema.Root.Get("properties")
	if !properties.Is(schema.Object) {
		return
	}
	for _, m := range properties.Members {
		if d := m.Value.Get("default"); d != nil && e.Schema.RefusesDefault(d) {
			l.ds.Report(d, "elicitation-default", "mend the default, or leave it out",
				"the form can not be sent, because the default of %q does not satisfy its schema", m.Key)
		}
	}
}

// answerable checks that the defaults of a question are an answer, for clients that can not ask.
func (l *loader) answerable(e Elicitation) {
	required := e.Schema.Root.Get("required")
	if !required.Is(schema.Array) {
		return
	}
	for _, r := range required.Items {
		p := e.Schema.Root.Get("properties").Get(r.Text)
		if p.Is(schema.Object) && p.Get("default") == nil {
			l.ds.Report(p, "elicitation-default", "add a default, or choose fail or decline",
				"onUnsupported is default, and the required property %q has none", r.Text)
		}
	}
}

// question reads the schema of a question. The protocol allows one flat object of primitives, so that a client can
// draw a form from it.
func (l *loader) question(n, message *schema.Node) *schema.Document {
	if !l.is(n, schema.Object) {
		return nil
	}
	d := l.schema(n)
	l.only(n, "a question", "type", "properties", "required", "title", "description", "additionalProperties", "$schema", "$comment")
	if t := n.Get("type"); t == nil || t.Text != "object" && wellTyped(t) {
		l.flat(n, "write type: object", "the schema of a question has to be of type object")
	}
	if n.Get("properties") == nil {
		near := func(m schema.Member) bool { return schema.DidYouMean(m.Key, []string{"properties"}) != "" }
		if l.m.Answer || !slices.ContainsFunc(n.Members, near) { // the lint reports a misspelt key
			l.flat(n, "", "the schema of a question needs properties")
		}
		return d
	}
	for _, m := range n.Get("properties").Members {
		l.primitive(m.Value)
		l.secret(message, m)
	}
	l.requires(n)
	l.linksWithin(n)
	return d
}

// requires reports properties that a form requires and does not have: nobody could fill it in.
func (l *loader) requires(n *schema.Node) {
	required := n.Get("required")
	if !required.Is(schema.Array) {
		return
	}
	var fields []string
	for _, m := range n.Get("properties").Members {
		fields = append(fields, m.Key)
	}
	for _, r := range required.Items {
		if !slices.Contains(fields, r.Text) {
			l.flat(r, schema.DidYouMean(r.Text, fields), "the form has no property %q, so nobody can fill it in", r.Text)
		}
	}
}

func (l *loader) flat(n *schema.Node, hint, format string, args ...any) {
	l.ds.Report(n, "elicitation-schema", hint, format, args...)
}

// only reports keywords that the protocol does not allow there.
func (l *loader) only(n *schema.Node, what string, allowed ...string) {
	for _, m := range n.Members {
		if schema.IsKeyword(m.Key) && !slices.Contains(allowed, m.Key) {
			l.ds.ReportAt(m.KeyPos, m.Value.Pointer, "elicitation-schema", "check it in the handler",
				"the protocol has no %s in %s", m.Key, what)
		}
	}
}

// wellTyped reports whether the value of a type keyword is a list or a type: the lint reports other values.
func wellTyped(t *schema.Node) bool {
	return t.Kind == schema.Array || t.Kind == schema.String && schema.IsType(t.Text)
}

var commonKeywords = []string{"type", "title", "description", "default", "$comment"}

func (l *loader) primitive(n *schema.Node) {
	if n.Kind != schema.Object {
		l.flat(n, "", "a property of a question takes a schema with a type")
		return
	}
	allow := func(more ...string) {
		l.only(n, "a question's "+n.Get("type").Text, append(more, commonKeywords...)...)
	}
	switch t := n.Get("type"); {
	case t.Is(schema.String) && t.Text == "string":
		allow("minLength", "maxLength", "format", "enum", "oneOf")
		l.format(n.Get("format"))
		l.options(n, "oneOf")
	case t.Is(schema.String) && (t.Text == "number" || t.Text == "integer"):
		allow("minimum", "maximum")
	case t.Is(schema.String) && t.Text == "boolean":
		allow()
	case t.Is(schema.String) && t.Text == "array":
		allow("items", "minItems", "maxItems")
		l.choices(n)
	case t == nil || wellTyped(t):
		l.flat(n, "questions take string, number, integer, boolean, and lists of enum strings",
			"a question is one flat form: %q can not be nested, referred to or left open", keyOf(n))
	}
}

var questionFormats = []string{"date", "date-time", "email", "uri"}

func (l *loader) format(n *schema.Node) {
	if n.Is(schema.String) && !slices.Contains(questionFormats, n.Text) {
		l.flat(n, "questions take "+strings.Join(questionFormats, ", "), "format %q is not one that clients ask for", n.Text)
	}
}

// choices checks a list of which the user picks several: enum strings, or constants with titles.
func (l *loader) choices(n *schema.Node) {
	items := n.Get("items")
	if !items.Is(schema.Object) || items.Get("enum") == nil && items.Get("anyOf") == nil {
		l.flat(n, "give items an enum, or anyOf with const and title", "a list in a question holds strings from an enum")
		return
	}
	l.only(items, "the items of a question's list", "type", "enum", "anyOf", "title", "description")
	if t := items.Get("type"); t == nil && items.Get("enum") != nil || t != nil && wellTyped(t) && t.Text != "string" {
		l.flat(items, "write type: string in items", "the protocol requires type: string of the items of a question's list, where their choices are in enum")
	}
	l.options(items, "anyOf")
}

// options checks that each choice is a string, from an enum or from constants with titles.
func (l *loader) options(n *schema.Node, titled string) {
	for _, v := range itemsOf(n.Get("enum")) {
		if v.Kind != schema.String {
			l.flat(v, "", "the choices of a question are strings")
		}
	}
	for _, v := range itemsOf(n.Get(titled)) {
		if !v.Get("const").Is(schema.String) || !v.Get("title").Is(schema.String) {
			l.flat(v, "write {const: value, title: what the user reads}", "a choice of a question needs const and title")
		}
	}
}

func itemsOf(n *schema.Node) []*schema.Node {
	if n == nil {
		return nil
	}
	return n.Items
}
