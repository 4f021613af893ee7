package reference

import (
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// entries adds the sections beside those of tools.
func (m *maker) entries() {
	if len(m.Manifest.Prompts) > 0 {
		m.section("prompts", "Prompts")
	}
	for i := range m.Manifest.Prompts {
		m.prompt(&m.Manifest.Prompts[i])
	}
	m.resources()
	m.methods()
}

func (m *maker) prompt(p *manifest.Prompt) {
	m.listed("prompt", p.Listed)
	if len(p.Arguments) == 0 {
		m.say(text("It takes no arguments."))
	} else {
		m.schemaOf(p.Schema, "It takes, each as one text:", "")
		m.completed(p.Arguments)
	}
	m.asking(p.Listed)
	if in := exampleOf(p.Schema); in != nil {
		m.add(Paragraph{text("For example, the params of prompts/get:")}, Code{"json", indented(object("name", quoted(p.Name), "arguments", string(in.JSON())))})
	}
}

// listed begins the section of a prompt, a resource or a resource template.
func (m *maker) listed(kind string, l manifest.Listed) {
	m.entry(kind, l.Name)
	if title := l.Node.Get("title"); title.Is(schema.String) {
		m.say(text(sentence(title.Text)))
	}
	m.paragraphs(l.Description.Value)
}

// asking adds the questions, client capabilities and timeout of a prompt, a resource or a resource template.
func (m *maker) asking(l manifest.Listed) {
	m.questions(l.Elicitations)
	m.clientCapabilities(l.ClientCapabilities)
	if d := l.Timeout.Value; d > 0 {
		m.say(text("A request for it ends after " + model.Short(d) + notCounted(len(l.Elicitations)) + "."))
	}
}

// completed says for which arguments a client may ask for completions.
func (m *maker) completed(all []manifest.Argument) {
	var names []Text
	for _, a := range all {
		if a.Complete.Value || len(a.Values) > 0 {
			names = append(names, code(a.Name))
		}
	}
	if len(names) > 0 {
		m.say(append(join(", ", names...), Span{Text: " can be completed with completion/complete."}))
	}
}

func (m *maker) resources() {
	if len(m.Manifest.Resources)+len(m.Manifest.ResourceTemplates) == 0 {
		return
	}
	m.section("resources", "Resources")
	for i := range m.Manifest.Resources {
		r := &m.Manifest.Resources[i]
		m.listed("resource", r.Listed)
		m.say(place("Read it at", r.URI.Value, r.MIMEType.Value, r.Subscribe.Value))
		m.asking(r.Listed)
	}
	for i := range m.Manifest.ResourceTemplates {
		t := &m.Manifest.ResourceTemplates[i]
		m.listed("template", t.Listed)
		m.say(place("Read them at", t.URITemplate.Value, t.MIMEType.Value, t.Subscribe.Value))
		m.schemaOf(t.Schema, "Its variables:", "")
		m.completed(t.Variables)
		m.asking(t.Listed)
	}
}

// place is a sentence that says at which URI, or URI template, resources are read, and as which media type.
func place(how, uri, mime string, subscribe bool) Text {
	t := append(text(how+" "), code(uri)...)
	if mime != "" {
		t = append(t, append(text(", as "), code(mime)...)...)
	}
	t = append(t, Span{Text: "."})
	if subscribe {
		t = append(t, Span{Text: " A client may subscribe to changes."})
	}
	return t
}

// methods adds the sections of custom methods, and the names of those of the protocol.
func (m *maker) methods() {
	if len(m.Manifest.Methods)+len(m.Manifest.CustomMethods) == 0 {
		return
	}
	m.section("methods", "Methods")
	var own []Text
	for _, t := range m.Manifest.Methods {
		own = append(own, code(t.Value))
	}
	if len(own) > 0 {
		m.say(append(text("Of the protocol, it also answers "), append(join(", ", own...), Span{Text: "."})...))
	}
	for i := range m.Manifest.CustomMethods {
		m.custom(&m.Manifest.CustomMethods[i])
	}
}

func (m *maker) custom(c *manifest.CustomMethod) {
	m.entry("method", c.Name)
	m.paragraphs(c.Description.Value)
	from, to := "client", "server"
	if c.FromServer {
		from, to = to, from
	}
	if c.Notification() {
		m.say(text("A notification that the " + from + " sends; nobody answers it."))
	} else {
		m.say(text("A request of the " + from + " that the " + to + " answers."))
	}
	if c.Extension.Value != "" {
		m.say(append(text("It is for clients that declare the extension "), append(code(c.Extension.Value), Span{Text: "."})...))
	}
	m.schemaOf(c.Params, "Its params:", "It has no params.")
	if !c.Notification() {
		m.schemaOf(c.Result, "Its result:", "Its result is empty.")
	}
	if in := exampleOf(c.Params); in != nil {
		m.add(Paragraph{text("For example, its params:")}, Code{"json", indented(string(in.JSON()))})
	}
	if out := exampleOf(c.Result); out != nil {
		m.add(Paragraph{text("and a result:")}, Code{"json", indented(string(out.JSON()))})
	}
}
