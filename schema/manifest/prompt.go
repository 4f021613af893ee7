package manifest

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

func (l *loader) prompts(n *schema.Node) {
	if !l.is(n, schema.Object) {
		return
	}
	for _, m := range n.Members {
		p := Prompt{Listed: l.listed(m, "prompt")}
		readers := l.listedReaders(&p.Listed)
		readers["arguments"] = func(n *schema.Node) { l.promptArguments(&p, n) }
		l.fields(m.Value, "a prompt", readers)
		l.m.Prompts = append(l.m.Prompts, p)
	}
}

// listed makes the Listed of an entry of a registry.
func (l *loader) listed(m schema.Member, kind string) Listed {
	if strings.TrimSpace(m.Key) == "" || len(m.Key) > maxListedName {
		l.ds.ReportAt(m.KeyPos, m.Value.Pointer, "listed-name", "", "a %s needs a name of at most %d bytes", kind, maxListedName)
	}
	return Listed{Kind: kind, Name: m.Key, Pos: m.KeyPos, Node: m.Value}
}

// maxListedName is the longest name of an entry, the same as for tools.
const maxListedName = 128

// listedReaders read the keys that the entries of all registries have.
func (l *loader) listedReaders(e *Listed) map[string]func(*schema.Node) {
	return map[string]func(*schema.Node){
		"goName":       l.goName(&e.GoName),
		"title":        func(n *schema.Node) { l.text(n) },
		"description":  l.into(&e.Description),
		"icons":        l.icons,
		"_meta":        l.meta,
		"timeout":      l.duration(&e.Timeout),
		"elicitations": func(n *schema.Node) { l.elicitations(&e.Elicitations, n) },

		"clientCapabilities": l.clientCapabilities(&e.ClientCapabilities),
	}
}

func (l *loader) promptArguments(p *Prompt, n *schema.Node) {
	if !l.is(n, schema.Object) || len(n.Members) == 0 {
		return
	}
	object := newObjectSchema(n)
	for _, m := range n.Members {
		a := l.argument(m, "an argument of a prompt", []string{"string"})
		a.Required = m.Value.Get("required").Is(schema.Bool) && m.Value.Get("required").Text == "true"
		a.Sensitive = m.Value.Get("x-sensitive").Is(schema.Bool) && m.Value.Get("x-sensitive").Text == "true"
		object.add(m, a.Required, false)
		p.Arguments = append(p.Arguments, a)
	}
	p.Schema = l.schema(object.root)
}

// valueKeywords are the keywords that the schema of an argument or variable may have: its value is one text.
var valueKeywords = []string{"type", "enum", "const", "format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum",
	"exclusiveMaximum", "multipleOf", "default", "examples", "description", "$comment", "goName", "goType", "x-sensitive"}

// argument reads an argument or variable: a small schema, with the keys title, required and complete, which belong to the argument.
func (l *loader) argument(m schema.Member, what string, types []string) Argument {
	a := Argument{Name: m.Key, Node: m.Value}
	if !l.is(m.Value, schema.Object) {
		return a
	}
	for _, k := range m.Value.Members {
		switch {
		case k.Key == "title":
			l.text(k.Value)
		case k.Key == "required":
			l.is(k.Value, schema.Bool)
		case k.Key == "complete":
			l.flag(&a.Complete)(k.Value)
		case schema.IsKeyword(k.Key) && !slices.Contains(valueKeywords, k.Key):
			l.ds.ReportAt(k.KeyPos, k.Value.Pointer, "argument-schema", "check it in the handler", "%s is one text, of which %s says nothing", what, k.Key)
		case !slices.Contains(valueKeywords, k.Key):
			l.unknown(k, what, append([]string{"title", "required", "complete"}, valueKeywords...))
		}
	}
	if t := m.Value.Get("type"); t != nil && (t.Kind != schema.String || !slices.Contains(types, t.Text)) {
		l.ds.Report(t, "argument-schema", "write "+strings.Join(types, ", ")+", or leave type out for a string", "%s is of no such type", what)
	} else if t != nil {
		a.Raw = t.Text != "string"
	}
	l.values(&a)
	return a
}

// values records the values of an enum, which are its completions.
func (l *loader) values(a *Argument) {
	enum := a.Node.Get("enum")
	if !enum.Is(schema.Array) {
		return
	}
	for _, v := range enum.Items {
		a.Values = append(a.Values, v.Text)
	}
	if a.Complete.Value {
		l.ds.Report(a.Complete.Node, "needless-completion", "remove complete, or enum", "the values of enum complete by themselves")
	}
}

// objectSchema is the schema of an object of all arguments.
type objectSchema struct{ root, properties, required *schema.Node }

func newObjectSchema(n *schema.Node) objectSchema {
	at := func(kind schema.Kind) *schema.Node { return &schema.Node{Kind: kind, Pos: n.Pos, Pointer: n.Pointer} }
	o := objectSchema{at(schema.Object), at(schema.Object), at(schema.Array)}
	no := at(schema.Bool)
	no.Text = "false"
	o.root.Members = []schema.Member{member("type", "object"), {Key: "properties", KeyPos: n.Pos, Value: o.properties},
		{Key: "required", KeyPos: n.Pos, Value: o.required}, {Key: "additionalProperties", KeyPos: n.Pos, Value: no}}
	return o
}

// add adds an argument. A list, a variable that may be repeated, is an array of values of the schema.
func (o *objectSchema) add(m schema.Member, required, list bool) {
	value := &schema.Node{Kind: schema.Object, Pos: m.Value.Pos, Pointer: m.Value.Pointer}
	if m.Value.Get("type") == nil {
		value.Members = append(value.Members, member("type", "string"))
	}
	for _, k := range m.Value.Members {
		if slices.Contains(valueKeywords, k.Key) {
			value.Members = append(value.Members, k)
		}
	}
	if list {
		value = &schema.Node{Kind: schema.Object, Pos: value.Pos, Pointer: value.Pointer,
			Members: []schema.Member{member("type", "array"), {Key: "items", KeyPos: value.Pos, Value: value}}}
	}
	o.properties.Members = append(o.properties.Members, schema.Member{Key: m.Key, KeyPos: m.KeyPos, Value: value})
	if required {
		o.required.Items = append(o.required.Items, &schema.Node{Kind: schema.String, Pos: m.KeyPos, Pointer: m.Value.Pointer, Text: m.Key})
	}
}
