package revision

import (
	"cmp"
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// rules decodes a rules file. Names of definitions are checked afterwards, by linker.
func (d *decoder) rules(n *schema.Node) (r *Revision, documents []*schema.Node) {
	r = &Revision{Pos: n.Pos}
	d.object(n, append(d.edits(r),
		must("revision", text(d, &r.Name)),
		must("era", text(d, &r.Era, string(Handshake), string(Stateless))),
		must("documents", func(n *schema.Node) { d.items(n, func(item *schema.Node) { documents = append(documents, item) }) }),
		may("batches", d.boolean(&r.Batches)),
		must("methods", func(n *schema.Node) {
			r.Methods = slices.Grow(r.Methods, len(n.Items))
			d.items(n, func(item *schema.Node) { r.Methods = append(r.Methods, d.method(item)) })
		}),
		may("removed", func(n *schema.Node) {
			d.each(n, "method", nil, func(m *schema.Member) { r.Removed = append(r.Removed, d.removed(m)) })
		}),
		may("task", func(n *schema.Node) { r.Task = d.task(n) }),
		must("errors", func(n *schema.Node) { d.errors(n, r) }),
		must("capabilities", func(n *schema.Node) { d.capabilities(n, r) }),
		may("meta", func(n *schema.Node) { d.meta(n, r) }),
		may("resultType", func(n *schema.Node) { r.ResultType = d.resultType(n) }),
		may("extensions", func(n *schema.Node) { d.extensions(n, r) }),
		may("http", func(n *schema.Node) { d.http(n, &r.HTTP) }),
		must("messages", func(n *schema.Node) { d.messages(n, r) }),
	)...)
	sortRules(r)
	return r, documents
}

// editKeys are the keys of a rules file that change the documents; edits decodes them.
var editKeys = []string{"names", "pages", "errata"}

func (d *decoder) edits(r *Revision) []field {
	return []field{
		may("names", func(n *schema.Node) {
			d.each(n, "definition", nil, func(m *schema.Member) { r.aliases = append(r.aliases, d.alias(m)) })
		}),
		may("pages", func(n *schema.Node) {
			d.each(n, "definition", nil, func(m *schema.Member) { r.pages = append(r.pages, d.page(m)) })
		}),
		may("errata", func(n *schema.Node) {
			d.each(n, "definition", nil, func(m *schema.Member) { r.errata = append(r.errata, d.page(m)) })
		}),
	}
}

func (d *decoder) page(m *schema.Member) page {
	p := page{definition: m.Key, pos: m.KeyPos}
	if d.kind(m.Value, schema.Object) {
		p.keywords = m.Value.Members
	}
	return p
}

func (d *decoder) method(n *schema.Node) Method {
	m := Method{Pos: n.Pos, Cancellable: true}
	d.object(n,
		must("name", text(d, &m.Name)),
		must("from", text(d, &m.From, string(FromClient), string(FromServer), string(FromBoth))),
		must("kind", text(d, &m.Kind, string(Request), string(Notification), string(Input))),
		must("message", text(d, &m.Message)),
		may("op", text(d, &m.Op, ops()...)),
		may("result", text(d, &m.Result)),
		may("cancellable", d.boolean(&m.Cancellable)),
		may("task", text(d, &m.Task)),
		may("capability", text(d, &m.Capability)),
		may("deprecated", text(d, &m.Deprecated)),
		may("empty", text(d, &m.EmptyList)),
		may("needs", func(n *schema.Node) {
			d.items(n, func(item *schema.Node) { m.Needs = append(m.Needs, d.need(item)) })
		}),
	)
	m.Cancellable = m.Cancellable && m.Kind == Request
	slices.SortFunc(m.Needs, func(a, b Need) int {
		return cmp.Or(cmp.Compare(a.Member, b.Member), cmp.Compare(a.Capability, b.Capability))
	})
	return m
}

func (d *decoder) need(n *schema.Node) Need {
	need := Need{Pos: n.Pos}
	d.object(n,
		must("member", text(d, &need.Member)),
		may("capability", text(d, &need.Capability)),
		may("values", d.texts(&need.Values)),
		may("default", d.boolean(&need.Default)),
	)
	slices.Sort(need.Values)
	return need
}

func (d *decoder) removed(m *schema.Member) Removed {
	r := Removed{Name: m.Key, Pos: m.KeyPos}
	text(d, &r.Instead)(m.Value)
	return r
}

func (d *decoder) task(n *schema.Node) *Task {
	t := &Task{Pos: n.Pos}
	d.object(n,
		must("definition", text(d, &t.Definition)),
		must("initial", text(d, &t.Initial)),
		must("terminal", d.texts(&t.Terminal)),
		must("edges", func(n *schema.Node) {
			d.each(n, "status", nil, func(m *schema.Member) {
				e := Edge{From: m.Key, Pos: m.KeyPos}
				d.texts(&e.To)(m.Value)
				t.Edges = append(t.Edges, e)
			})
		}),
		must("create", text(d, &t.Create, CreateByRequestor, CreateByReceiver)),
		must("isError", text(d, &t.IsError, IsErrorFails, IsErrorCompletes)),
		must("cancel", text(d, &t.Cancel, CancelForces, CancelAsks)),
		must("cancelTerminal", text(d, &t.CancelTerminal, TerminalRefused, TerminalAcknowledged)),
		must("result", text(d, &t.Result, ResultBlocks, ResultInline)),
		must("questions", text(d, &t.Questions, QuestionsOnSession, QuestionsInline)),
		must("progress", text(d, &t.Progress, ProgressLifetime, ProgressNone)),
	)
	return t
}

func (d *decoder) errors(n *schema.Node, r *Revision) {
	known := errorNames()
	d.each(n, "error", known, func(m *schema.Member) {
		e := ErrorCode{Name: m.Key, Pos: m.KeyPos}
		d.integer(&e.Code)(m.Value)
		r.Errors = append(r.Errors, e)
	})
	for _, name := range known[:standardErrors] {
		if n.Get(name) == nil {
			d.ds.Report(n, "missing-key", "", "%s is missing", name)
		}
	}
}

func (d *decoder) capabilities(n *schema.Node, r *Revision) {
	side := func(to *Message, name string, slots words) func(*schema.Node) {
		return func(n *schema.Node) { *to = d.message(name, n, slots) }
	}
	d.object(n,
		must("server", side(&r.Server, "server", serverCapabilities())),
		must("client", side(&r.Client, "client", clientCapabilities())),
	)
}

func (d *decoder) meta(n *schema.Node, r *Revision) {
	d.each(n, "meta key", metaNames(), func(m *schema.Member) {
		k := MetaKey{Name: m.Key, Pos: m.KeyPos}
		d.object(m.Value,
			must("key", text(d, &k.Key)),
			may("definition", text(d, &k.Definition)),
			may("required", d.boolean(&k.Required)),
		)
		r.Meta = append(r.Meta, k)
	})
}

func (d *decoder) resultType(n *schema.Node) *ResultType {
	t := &ResultType{}
	d.object(n,
		must("key", text(d, &t.Key)),
		must("complete", text(d, &t.Complete)),
		may("inputRequired", text(d, &t.InputRequired)),
		may("task", text(d, &t.Task)),
	)
	return t
}

func (d *decoder) extensions(n *schema.Node, r *Revision) {
	d.each(n, "extension", nil, func(m *schema.Member) {
		e := Extension{Name: m.Key, Pos: m.KeyPos}
		d.object(m.Value,
			must("id", text(d, &e.ID)),
			must("document", text(d, &e.Document)),
		)
		r.Extensions = append(r.Extensions, e)
	})
}

// sortRules removes the effect of the order of a rules file. Edges and statuses get the schema's order in linker.task.
func sortRules(r *Revision) {
	slices.SortStableFunc(r.Methods, func(a, b Method) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.From, b.From)) })
	slices.SortFunc(r.Removed, func(a, b Removed) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(r.Errors, func(a, b ErrorCode) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(r.Meta, func(a, b MetaKey) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(r.Extensions, func(a, b Extension) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(r.Messages, func(a, b Message) int { return cmp.Compare(a.Name, b.Name) })
}
