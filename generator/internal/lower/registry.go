package lower

import (
	"fmt"
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/generator/internal/wire"
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// registryNeeds sets what prompts and resources need of the runtime.
func (l *packageLowering) registryNeeds() {
	m, n := l.in.Manifest, &l.pkg.Needs
	some, handler := m.Completes()
	byHand := func(t manifest.Text) bool { rule := l.ruleOf(t.Value); return rule != nil && rule.Op == "complete" }
	n.Prompts, n.Resources = m.HasPrompts(), m.HasResources()
	n.Completions = some && (handler != nil || !slices.ContainsFunc(m.Methods, byHand))
	if n.Prompts {
		l.enableNotifications("prompts")
	}
	if n.Resources {
		l.enableNotifications("resources")
	}
	if m.Subscribes() {
		l.enableNotifications("resourcesSubscribe")
	}
}

// refuseServedTwice refuses a method of the manifest's methods that a registry serves, too. It reports whether that is so.
func (l *packageLowering) refuseServedTwice(m manifest.Text, rule *revision.Method) bool {
	key, remedy := "", "remove it from methods, or serve all of them by hand and remove what serves it"
	switch n := &l.pkg.Needs; {
	case n.Prompts && (rule.Op == "listPrompts" || rule.Op == "getPrompt"):
		key = "prompts"
	case n.Resources && slices.Contains([]string{"listResources", "listResourceTemplates", "readResource"}, rule.Op):
		key = "resources and resourceTemplates"
	case n.Resources && l.in.Manifest.Subscribes() && wire.Watches(rule.Op):
		key = "subscribe: true of resources"
	case n.Resources && wire.Watches(rule.Op):
		key, remedy = "resources with subscribe: true", "remove it from methods, and write subscribe: true at the resource or template"
	case n.Completions && rule.Op == "complete":
		key = "complete: true of arguments"
	default:
		return false
	}
	l.diags.Report(m.Node, "served-twice", remedy, "%s is served by %s", m.Value, key)
	return true
}

// registries lowers prompts, resources and resource templates in the manifest's order.
func (l *packageLowering) registries() {
	m := l.in.Manifest
	for i := range m.Prompts {
		p := &m.Prompts[i]
		l.pkg.Prompts = append(l.pkg.Prompts, l.prompt(p))
	}
	for i := range m.Resources {
		r := &m.Resources[i]
		goName := methodName("Read", r.Name, r.GoName)
		h := l.entryHandler(&r.Listed, goName, "resource "+r.Name, "reads "+r.URI.Value, "server.ResourceContents")
		l.entryPolicy(h, &r.Listed, goName)
		l.pkg.Resources = append(l.pkg.Resources, &model.Resource{Name: r.Name, URI: r.URI.Value, Definition: l.shown(r.Advertised()),
			MIMEType: r.MIMEType.Value, Subscribe: r.Subscribe.Value, Handler: h})
	}
	for i := range m.ResourceTemplates {
		l.pkg.Templates = append(l.pkg.Templates, l.template(&m.ResourceTemplates[i]))
	}
}

// shown returns what lists show of an entry.
func (l *packageLowering) shown(advertised *schema.Node) string {
	return typing.EscapeInvisible(string(advertised.JSON()))
}

func (l *packageLowering) prompt(p *manifest.Prompt) *model.Prompt {
	goName := methodName("", p.Name, p.GoName)
	out := &model.Prompt{Name: p.Name, Definition: l.shown(p.Advertised())}
	out.Handler = l.entryHandler(&p.Listed, goName, "prompt "+p.Name, "makes the prompt "+p.Name, "server.PromptResult")
	for _, a := range p.Arguments {
		if a.Sensitive {
			out.Sensitive = append(out.Sensitive, a.Name)
		}
	}
	if p.Schema != nil {
		out.Input = l.types.Lower(typing.Root{Document: p.Schema, Name: goName + "Args", DefsPrefix: goName, Use: model.Decode, Hidden: check.Hidden(out.Sensitive...),
			Doc: []string{goName + "Args are the arguments of the prompt " + p.Name + "."}})
		out.Handler.Input = out.Input.Name
	}
	l.entryPolicy(out.Handler, &p.Listed, goName)
	out.Arguments = l.completions(&p.Listed, goName, "prompt "+p.Name, p.Arguments)
	return out
}

func (l *packageLowering) template(r *manifest.ResourceTemplate) *model.Resource {
	goName := goNameOf(r.Name, r.GoName)
	reads := methodName("Read", r.Name, r.GoName)
	out := &model.Resource{Name: r.Name, URI: r.URITemplate.Value, Definition: l.shown(r.Advertised()), MIMEType: r.MIMEType.Value, Subscribe: r.Subscribe.Value}
	out.Handler = l.entryHandler(&r.Listed, reads, "resource template "+r.Name, "reads "+r.URITemplate.Value, "server.ResourceContents")
	out.Input = l.types.Lower(typing.Root{Document: r.Schema, Name: goName + "Variables", DefsPrefix: goName, Use: model.Decode,
		Doc: []string{goName + "Variables are the variables of " + r.URITemplate.Value + "."}})
	out.Handler.Input = out.Input.Name
	l.entryPolicy(out.Handler, &r.Listed, reads)
	for _, v := range r.Variables {
		if v.Raw {
			out.Raw = append(out.Raw, v.Name)
		}
	}
	out.Arguments = l.completions(&r.Listed, goName, "resource template "+r.Name, r.Variables)
	return out
}

// completions are the arguments that clients can complete.
func (l *packageLowering) completions(e *manifest.Listed, goName, entry string, args []manifest.Argument) (all []model.Argument) {
	for _, a := range args {
		if a.Values == nil && !a.Complete.Value {
			continue
		}
		out := model.Argument{Name: a.Name, Values: a.Values}
		if a.Complete.Value {
			about := &manifest.Listed{Pos: e.Pos, Node: e.Node}
			out.Complete = l.entryHandler(about, "Complete"+goName+naming.GoWords(a.Name), entry, fmt.Sprintf("completes %s of the %s", a.Name, entry), "server.Completion")
			out.Complete.Input = "server.CompletionRequest"
		}
		all = append(all, out)
	}
	return all
}

// entryHandler makes a method of Handlers for an entry. does is what it does, in words for its comment; output is the type of its result.
func (l *packageLowering) entryHandler(e *manifest.Listed, goName, entry, does, output string) *model.EntryHandler {
	h := &model.EntryHandler{Entry: entry, GoName: goName, Output: output, Doc: []string{goName + " " + does + "."}}
	if lines := textLines(e.Description.Value); len(lines) > 0 {
		h.Doc = append([]string{goName + " " + does + ": " + lines[0]}, lines[1:]...)
	}
	l.takeHandler(goName, named{what: entry, pos: e.Pos, node: e.Node, goName: e.GoName})
	l.pkg.Entries = append(l.pkg.Entries, h)
	return h
}

// entryPolicy lowers the timeout, the questions and the client capabilities of the handler of an entry.
func (l *packageLowering) entryPolicy(h *model.EntryHandler, e *manifest.Listed, goName string) {
	h.Timeout = e.Timeout.Value
	h.Asker = l.asker("the "+h.Entry, goName, e.Elicitations)
	l.questions(&h.Asker, goName, e.Elicitations, true)
	l.clientCapabilities(&h.Asker, e.ClientCapabilities)
	if h.Timeout > 0 {
		h.Policy = append(h.Policy, fmt.Sprintf("A request ends after %s%s.", model.Short(h.Timeout), notCounted(&h.Asker)))
	}
	h.Policy = append(h.Policy, l.requestSentences(&h.Asker, true)...)
}
