package revision

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// linker checks decoded rules against the documents and fills in the fields that follow from both.
type linker struct {
	r     *Revision
	ds    schema.Diagnostics
	older *schema.Document // core document of the revision that the rules were copied from, for hints; nil for none
}

func (l *linker) report(pos schema.Position, code, hint, format string, args ...any) {
	l.ds.ReportAt(pos, "", code, hint, format, args...)
}

func (l *linker) link() {
	l.edit()
	l.capability(&l.r.Server)
	l.capability(&l.r.Client)
	for i := range l.r.Meta {
		if k := &l.r.Meta[i]; k.Definition != "" {
			l.definition(k.Definition, k.Pos)
		}
	}
	for i := range l.r.Methods {
		l.method(&l.r.Methods[i])
	}
	l.messageDefinitions()
	l.overlaps()
	l.removed()
	if l.r.Task != nil {
		l.task(l.r.Task)
	}
	l.http()
	l.messages()
}

// edit changes the documents as the rules say.
func (l *linker) edit() {
	l.aliases()
	for _, p := range l.r.pages {
		l.page(p)
	}
	for _, p := range l.r.errata {
		l.erratum(p)
	}
}

func (l *linker) definition(reference string, pos schema.Position) (Place, bool) {
	place, ok := l.r.Definition(reference)
	if !ok && reference != "" {
		l.report(pos, "unknown-definition", l.known(reference), "no document defines %q", reference)
	}
	return place, ok
}

// page adds keywords to a definition. A keyword that the document has itself is an error.
func (l *linker) page(p page) {
	place, _ := l.definition(p.definition, p.pos)
	for _, s := range place.Schemas {
		for _, keyword := range p.keywords {
			if s.Get(keyword.Key) != nil {
				l.report(keyword.KeyPos, "duplicate-keyword", "remove it here", "the document says %s of %s itself", keyword.Key, p.definition)
				continue
			}
			s.Members = append(s.Members, keyword)
		}
	}
}

// erratum replaces keywords of a definition.
func (l *linker) erratum(p page) {
	place, _ := l.definition(p.definition, p.pos)
	for _, s := range place.Schemas {
		for _, keyword := range p.keywords {
			said := s.Get(keyword.Key)
			if said == nil || schema.Equal(said, keyword.Value) {
				l.report(keyword.KeyPos, "needless-erratum", "remove it here, or write it under pages", "the document does not say otherwise of %s", p.definition)
				continue
			}
			*said = *keyword.Value
		}
	}
}

// known is a hint that names the definition that a reference may mean.
func (l *linker) known(reference string) string {
	if l.older != nil {
		return replacement(l.older, l.r.Documents[0].Document, reference)
	}
	return schema.DidYouMean(reference, l.r.definitions())
}

func (r *Revision) definitions() []string {
	var all []string
	for i := range r.Documents {
		for _, m := range r.Documents[i].Definitions() {
			all = append(all, m.Key)
		}
	}
	return all
}

func (l *linker) method(m *Method) {
	l.message(m)
	switch {
	case m.Kind == Notification && m.Result != "":
		l.report(m.Pos, "result-of-notification", "", "%s is a notification and has no result", m.Name)
	case m.Kind != Notification && m.Result == "":
		l.report(m.Pos, "missing-key", "", "result is missing")
	default:
		l.definition(m.Result, m.Pos)
	}
	if m.Task != "" && m.Kind != Request {
		l.report(m.Pos, "task-without-request", "", "%s is no request, so it can not run as a task", m.Name)
	}
	l.declared(m, m.Task)
	l.declared(m, m.Capability)
	for i := range m.Needs {
		l.need(m, &m.Needs[i])
	}
}

// messageDefinitions lists the definitions that are messages.
func (l *linker) messageDefinitions() {
	var add func(name string)
	add = func(name string) {
		n := l.r.node(name)
		if n == nil || slices.Contains(l.r.MessageDefinitions, name) {
			return
		}
		l.r.MessageDefinitions = append(l.r.MessageDefinitions, name)
		for _, branch := range append(slices.Concat(elements(n.Get("anyOf")), elements(n.Get("allOf"))), n) {
			if ref := branch.Get("$ref"); ref.Is(schema.String) {
				add(ref.Text[strings.LastIndexByte(ref.Text, '/')+1:])
			}
		}
	}
	for i := range l.r.Methods {
		add(l.r.Methods[i].Params)
		add(l.r.Methods[i].Result)
	}
	slices.Sort(l.r.MessageDefinitions)
}

// need checks that the params have the member, with these values, and that the receiver can declare the capability.
func (l *linker) need(m *Method, n *Need) {
	if m.Capability == "" {
		l.report(n.Pos, "missing-key", "", "needs are parts of a capability, and %s has none", m.Name)
	}
	if n.Capability == "" {
		return // the member is one of newer revisions
	}
	l.declared(m, n.Capability)
	params, ok := l.r.Definition(m.Params)
	if !ok {
		return // message has reported it
	}
	member, ok := params.step(n.Member)
	if !ok {
		l.report(n.Pos, "unknown-path", "", "%s has no %s", m.Params, n.Member)
		return
	}
	known := values(member)
	for _, v := range n.Values {
		if !slices.Contains(known, v) {
			l.report(n.Pos, "unknown-value", schema.DidYouMean(v, known), "%s of %s is never %q", n.Member, m.Params, v)
		}
	}
}

// message checks the method's name against the definition of the message, and derives its params and whether they may be left
// out.
func (l *linker) message(m *Method) {
	place, ok := l.definition(m.Message, m.Pos)
	if !ok {
		return
	}
	name, _ := place.step("method")
	if !slices.ContainsFunc(name.Schemas, func(s Schema) bool { return s.Get("const").Is(schema.String) && s.Get("const").Text == m.Name }) {
		l.report(m.Pos, "wrong-message", "", "%s is not the message of %s", m.Message, m.Name)
	}
	params, ok := place.step("params")
	if !ok {
		return
	}
	m.ParamsRequired = params.Required
	m.Params = m.Message + "/params"
	if len(params.Schemas) == 1 {
		if ref := params.Schemas[0].Get("$ref"); ref != nil {
			m.Params = ref.Text[strings.LastIndexByte(ref.Text, '/')+1:]
		}
	}
}

// declared checks that a capability can be declared by everyone who has to: receivers of requests, senders of
// notifications.
func (l *linker) declared(m *Method, capability string) {
	if capability == "" {
		return
	}
	server := m.From.Includes(FromClient) == (m.Kind != Notification)
	client := m.From.Includes(FromServer) == (m.Kind != Notification)
	if m.From == FromBoth {
		server, client = true, true
	}
	for _, side := range []struct {
		needed bool
		m      *Message
	}{{server, &l.r.Server}, {client, &l.r.Client}} {
		if side.needed && side.m.Slot(capability) == nil {
			l.report(m.Pos, "unknown-capability", schema.DidYouMean(capability, side.m.names()),
				"%s has no capability %q", side.m.Definition, capability)
		}
	}
}

// overlaps refuses two methods with the same name, or the same op, from the same side.
func (l *linker) overlaps() {
	for i := range l.r.Methods {
		for j := range i {
			a, b := &l.r.Methods[j], &l.r.Methods[i]
			if !a.From.Includes(b.From) && !b.From.Includes(a.From) {
				continue
			}
			if a.Name == b.Name {
				l.report(b.Pos, "duplicate-method", "", "%s is already defined at %s", b.Name, a.Pos)
			} else if a.Op != "" && a.Op == b.Op {
				l.report(b.Pos, "duplicate-op", "", "op %s already belongs to %s", b.Op, a.Name)
			}
		}
	}
}

func (l *linker) removed() {
	for _, removed := range l.r.Removed {
		if slices.ContainsFunc(l.r.Methods, func(m Method) bool { return m.Name == removed.Name }) {
			l.report(removed.Pos, "removed-method", "", "%s is among the methods", removed.Name)
		}
	}
}

func (l *linker) task(t *Task) {
	place, ok := l.definition(t.Definition, t.Pos)
	if !ok {
		return
	}
	t.Statuses = values(place)
	order := func(a, b string) int { return slices.Index(t.Statuses, a) - slices.Index(t.Statuses, b) }
	l.status(t.Pos, t, t.Initial)
	l.status(t.Pos, t, t.Terminal...)
	slices.SortFunc(t.Terminal, order)
	slices.SortFunc(t.Edges, func(a, b Edge) int { return order(a.From, b.From) })
	for _, e := range t.Edges {
		l.status(e.Pos, t, e.From)
		l.status(e.Pos, t, e.To...)
		slices.SortFunc(e.To, order)
		if slices.Contains(t.Terminal, e.From) {
			l.report(e.Pos, "terminal-edge", "", "%s is terminal, nothing follows it", e.From)
		}
	}
	for _, s := range t.Statuses {
		if !slices.Contains(t.Terminal, s) && !slices.ContainsFunc(t.Edges, func(e Edge) bool { return e.From == s }) {
			l.report(t.Pos, "dead-end", "", "%s is not terminal, but nothing follows it", s)
		}
	}
}

func (l *linker) status(pos schema.Position, t *Task, names ...string) {
	for _, name := range names {
		if name != "" && !slices.Contains(t.Statuses, name) {
			l.report(pos, "unknown-status", schema.DidYouMean(name, t.Statuses), "%s has no status %q", t.Definition, name)
		}
	}
}

// values are the strings that the schemas of a place enumerate, in their order.
func values(p Place) []string {
	var all []string
	for _, s := range p.Schemas {
		for _, item := range elements(s.Get("enum")) {
			all = append(all, item.Text)
		}
		if c := s.Get("const"); c != nil {
			all = append(all, c.Text)
		}
		for _, alternatives := range unions(s) {
			all = append(all, values(Place{Schemas: alternatives})...)
		}
	}
	return all
}

func (l *linker) http() {
	for _, n := range l.r.HTTP.Names {
		i := slices.IndexFunc(l.r.Methods, func(m Method) bool { return m.Name == n.Name })
		if i < 0 {
			l.report(n.Pos, "unknown-method", "", "there is no method %s", n.Name)
			continue
		}
		if l.r.Methods[i].Params == "" {
			continue // message has reported it
		}
		params, ok := l.r.Definition(l.r.Methods[i].Params)
		if ok {
			_, ok = walk(params, splitPath(n.Value))
		}
		if !ok {
			l.report(n.Pos, "unknown-path", "", "%s has no %s", l.r.Methods[i].Params, n.Value)
		}
	}
	for _, s := range l.r.HTTP.Statuses {
		if !slices.ContainsFunc(l.r.Errors, func(e ErrorCode) bool { return e.Name == s.Error }) {
			l.report(s.Pos, "unknown-error", "", "%s has no code in errors", s.Error)
		}
	}
}
