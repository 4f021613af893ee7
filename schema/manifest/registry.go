package manifest

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/uritemplate"
	"github.com/mcpkiln/mcpkiln/schema"
)

// Listed is what prompts, resources and resource templates have in common.
type Listed struct {
	Kind string // for people: prompt
	Name string
	Pos  schema.Position // of the name
	Node *schema.Node    // the whole entry

	GoName      Text // what Go names begin with
	Description Text
	// Timeout is that of one request for it. The timeout in defaults is only for tools.
	Timeout      Duration
	Elicitations []Elicitation
	// ClientCapabilities are as in Tool.
	ClientCapabilities []Text
}

// Prompt is one prompt.
type Prompt struct {
	Listed
	Arguments []Argument
	Schema    *schema.Document // of all arguments, an object; nil if there are none
}

// Argument is an argument of a prompt, or a variable of a resource template.
type Argument struct {
	Name     string
	Node     *schema.Node
	Required bool
	// Complete says that the user's handler completes it. Values are completions from its enum, without a handler.
	Complete Flag
	Values   []string
	// Raw says that its text is read as JSON, because its type is not string.
	Raw bool
	// Sensitive says that its value is not shown.
	Sensitive bool
}

// Resource is one resource with a fixed URI.
type Resource struct {
	Listed
	URI       Text
	MIMEType  Text
	Subscribe Flag
}

// ResourceTemplate describes the resources whose URIs its URI template matches.
type ResourceTemplate struct {
	Listed
	URITemplate Text
	Template    *uritemplate.Template // nil if URITemplate is invalid
	MIMEType    Text
	Variables   []Argument       // in the order of the template
	Schema      *schema.Document // of all variables, an object
	Subscribe   Flag
}

// Listed are the entries of all registries: prompts, resources, resource templates.
func (m *Manifest) Listed() (all []*Listed) {
	for i := range m.Prompts {
		all = append(all, &m.Prompts[i].Listed)
	}
	for i := range m.Resources {
		all = append(all, &m.Resources[i].Listed)
	}
	for i := range m.ResourceTemplates {
		all = append(all, &m.ResourceTemplates[i].Listed)
	}
	return all
}

// HasTools reports whether the manifest has the key tools; if that is empty, the program may add tools at run time.
func (m *Manifest) HasTools() bool { return m.Root.Get("tools") != nil }

// AddsTasks reports whether tools that the program adds may run as tasks: the manifest has defaults.task, which may be empty.
func (m *Manifest) AddsTasks() bool {
	defaults := m.Root.Get("defaults")
	return m.HasTools() && defaults != nil && defaults.Get("task") != nil
}

// HasPrompts reports whether the manifest has a registry of prompts, which may be empty.
func (m *Manifest) HasPrompts() bool { return m.Root.Get("prompts") != nil }

// HasResources reports whether the manifest has a registry of resources, which may be empty.
func (m *Manifest) HasResources() bool {
	return m.Root.Get("resources") != nil || m.Root.Get("resourceTemplates") != nil
}

// Subscribes reports whether some resource can be subscribed to.
func (m *Manifest) Subscribes() bool {
	return slices.ContainsFunc(m.Resources, func(r Resource) bool { return r.Subscribe.Value }) ||
		slices.ContainsFunc(m.ResourceTemplates, func(r ResourceTemplate) bool { return r.Subscribe.Value })
}

// Completes reports whether some argument or variable has completions, and where one has complete: true; nil if none does.
func (m *Manifest) Completes() (some bool, handler *schema.Node) {
	for _, args := range m.arguments() {
		for _, a := range args {
			some = some || a.Complete.Value || a.Values != nil
			if a.Complete.Value && handler == nil {
				handler = a.Complete.Node
			}
		}
	}
	return some, handler
}

func (m *Manifest) arguments() (all [][]Argument) {
	for i := range m.Prompts {
		all = append(all, m.Prompts[i].Arguments)
	}
	for i := range m.ResourceTemplates {
		all = append(all, m.ResourceTemplates[i].Variables)
	}
	return all
}

// Advertised returns the prompt as prompts/list shows it.
func (p *Prompt) Advertised() *schema.Node {
	return p.advertised(func(m schema.Member) schema.Member {
		list := &schema.Node{Kind: schema.Array, Pos: m.Value.Pos, Pointer: m.Value.Pointer}
		for _, a := range m.Value.Members {
			item := &schema.Node{Kind: schema.Object, Pos: a.KeyPos, Pointer: a.Value.Pointer, Members: []schema.Member{member("name", a.Key)}}
			for _, own := range a.Value.Members {
				if slices.Contains([]string{"title", "description", "required"}, own.Key) {
					item.Members = append(item.Members, own)
				}
			}
			list.Items = append(list.Items, item)
		}
		m.Value = list
		return m
	})
}

// Advertised returns the entry as its list shows it.
func (e *Listed) Advertised() *schema.Node { return e.advertised(nil) }

func (e *Listed) advertised(arguments func(schema.Member) schema.Member) *schema.Node {
	out := &schema.Node{Kind: schema.Object, Pos: e.Node.Pos, Pointer: e.Node.Pointer, Members: []schema.Member{member("name", e.Name)}}
	for _, m := range e.Node.Members {
		switch m.Key {
		case "goName", "subscribe", "variables", "timeout", "elicitations", "clientCapabilities":
			continue
		case "arguments":
			m = arguments(m)
		}
		out.Members = append(out.Members, m)
	}
	return out
}

func member(key, text string) schema.Member {
	return schema.Member{Key: key, Value: &schema.Node{Kind: schema.String, Text: text}}
}
