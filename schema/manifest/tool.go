package manifest

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check/address"
	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/schema"
)

// tools reads a mapping of tools keyed by name, or a list of tools with names.
func (l *loader) tools(n *schema.Node) {
	var all []toolEntry
	if n.Kind == schema.Array {
		all = l.toolList(n)
	} else if l.is(n, schema.Object) {
		for _, m := range n.Members {
			all = append(all, toolEntry{m.Key, m.KeyPos, m.Value})
		}
	} else {
		return
	}
	l.readTools(all)
}

// toolEntry is one tool as written, with its name and the position of that.
type toolEntry struct {
	name string
	pos  schema.Position
	node *schema.Node
}

// readTools reads tools concurrently: none depends on another.
func (l *loader) readTools(all []toolEntry) {
	read := make([]Tool, len(all))
	loaders := make([]loader, len(all))
	workers := runtime.GOMAXPROCS(0)
	work := func(first int) {
		for i := first; i < len(all); i += workers {
			loaders[i].m, loaders[i].linked = l.m, l.linked
			read[i] = loaders[i].tool(all[i])
		}
	}
	var others sync.WaitGroup
	for w := 1; w < min(workers, len(all)); w++ {
		others.Go(func() { work(w) })
	}
	work(0)
	others.Wait()
	l.m.Tools = read
	for i := range loaders {
		l.ds = append(l.ds, loaders[i].ds...)
	}
}

func (l *loader) toolList(n *schema.Node) []toolEntry {
	var all []toolEntry
	first := map[string]schema.Position{}
	for _, item := range n.Items {
		name := item.Get("name")
		switch {
		case item.Kind != schema.Object:
			l.is(item, schema.Object)
			continue
		case name == nil:
			l.missing(item, "name", "a tool in a list")
			continue
		case name.Is(schema.String):
			if at, ok := first[name.Text]; ok {
				l.ds.Report(name, "duplicate-tool", "remove one, or give it another name", "tool %.128q is already defined at line %d", name.Text, at.Line)
				continue
			}
			first[name.Text] = name.Pos
		}
		all = append(all, toolEntry{name.Text, name.Pos, item})
	}
	return all
}

func (l *loader) tool(e toolEntry) Tool {
	name, pos, n := e.name, e.pos, e.node
	t := Tool{Name: name, Pos: pos, Node: n}
	if named := n.Get("name"); named == nil || named.Is(schema.String) && named.Text == name {
		l.toolName(name, pos, n.Pointer)
	}
	readers := map[string]func(*schema.Node){
		"name":         func(n *schema.Node) { l.sameName(&t, n) },
		"title":        l.into(&t.Title),
		"description":  l.into(&t.Description),
		"goName":       l.goName(&t.GoName),
		"icons":        func(n *schema.Node) { t.Icons = n; l.icons(n) },
		"annotations":  func(n *schema.Node) { t.Annotations = n; l.annotations(n) },
		"_meta":        func(n *schema.Node) { t.Meta = n; l.meta(n) },
		"inputSchema":  func(n *schema.Node) { t.Input = l.document(n) },
		"outputSchema": func(n *schema.Node) { t.Output = l.document(n) },
		"timeout":      l.duration(&t.Timeout),
		"execution":    func(n *schema.Node) { l.execution(&t.Execution, n) },
		"cancellation": func(n *schema.Node) { l.cancellation(&t.Cancellation, n) },
		"elicitations": func(n *schema.Node) { l.elicitations(&t.Elicitations, n) },

		"clientCapabilities": l.clientCapabilities(&t.ClientCapabilities),
	}
	l.fields(n, "a tool", readers)
	if n.Is(schema.Object) && n.Get("inputSchema") == nil && (l.m.Answer || !misspelt(n, "inputSchema", readers)) {
		l.ds.ReportAt(pos, n.Pointer, "missing-key", "a tool without arguments takes inputSchema: {type: object, additionalProperties: false}",
			"tool %.128q needs the key \"inputSchema\"", name)
	}
	return t
}

func (l *loader) sameName(t *Tool, n *schema.Node) {
	if l.text(n).Value != t.Name && n.Kind == schema.String {
		l.ds.Report(n, "tool-name", "remove name", "the tool is keyed %.128q and named %.128q", t.Name, n.Text)
	}
}

// toolNames does not limit the length: a pattern with a count would be compiled into as many copies, whenever the program starts.
var toolNames = lazyregexp.New(`^[A-Za-z0-9_.-]+$`)

const longestToolName = 128

// clientNames is the length up to which every client accepts a tool name.
const clientNames = 64

func (l *loader) toolName(name string, pos schema.Position, pointer string) {
	switch {
	case name == "" && pos.Line > 0 && pointer != "":
		l.ds.ReportAt(pos, pointer, "tool-name", "", "a tool needs a name")
	case !toolNames().MatchString(name) || len(name) > longestToolName:
		l.ds.ReportAt(pos, pointer, "tool-name", "use letters, digits, _, . and -, 128 at most", "%.140q is no name for a tool", name)
	case len(name) > clientNames:
		l.ds = append(l.ds, schema.Diagnostic{Pos: pos, Pointer: pointer, Code: "long-tool-name", Severity: schema.Warning,
			Message: "a tool's name of more than 64 characters is refused by some clients"})
	}
}

// document reads inputSchema or outputSchema: the protocol requires type: object at its root.
func (l *loader) document(n *schema.Node) *schema.Document {
	if !l.is(n, schema.Object) {
		return nil
	}
	d := l.schema(cmp.Or(l.linked[n], n))
	switch t := n.Get("type"); {
	case t == nil:
		l.ds.Report(n, "schema-type", "add type: object", "%s has to say type: object", keyOf(n))
	case wellTyped(t) && t.Text != "object":
		l.ds.Report(t, "schema-type", "write type: object", "%s has to be of type object", keyOf(n))
	}
	return d
}

func (l *loader) schema(n *schema.Node) *schema.Document {
	d, ds := schema.NewDocument(n, l.m.Schemas)
	ds = append(ds, d.Lint()...)
	for i := range ds {
		if l.m.Answer && slices.Contains(slips, ds[i].Code) {
			ds[i].Severity = schema.Warning
		}
	}
	l.ds = append(l.ds, ds...)
	return d
}

// slips are codes of errors that are only warnings in a tools/list answer, whose author is somebody else. Code is generated for such a schema
// all the same.
var slips = []string{"misspelt-keyword", "impossible-schema", "foreign-pattern"}

func (l *loader) annotations(n *schema.Node) {
	if !l.is(n, schema.Object) {
		return
	}
	known := []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
	for _, m := range n.Members {
		switch m.Key {
		case known[0]:
			l.text(m.Value)
		case known[1], known[2], known[3], known[4]:
			l.is(m.Value, schema.Bool)
		default:
			l.annotation(m, known)
		}
	}
}

// annotation reports an annotation that the protocol does not have. In a manifest one that is probably misspelt is an error.
func (l *loader) annotation(m schema.Member, known []string) {
	d := schema.Diagnostic{Pos: m.KeyPos, Pointer: m.Value.Pointer, Code: "unknown-key", Hint: schema.DidYouMean(m.Key, known),
		Message: fmt.Sprintf("annotations have no key %q", m.Key)}
	if l.m.Answer || d.Hint == "" {
		d.Severity = schema.Warning
	}
	if d.Hint == "" {
		d.Hint = "it is advertised as it is; annotations are " + strings.Join(known, ", ")
	}
	l.ds = append(l.ds, d)
}

func (l *loader) icons(n *schema.Node) {
	if !l.is(n, schema.Array) {
		return
	}
	for _, icon := range n.Items {
		l.fields(icon, "an icon", map[string]func(*schema.Node){
			"src": l.iconSource, "mimeType": func(n *schema.Node) { l.mimeType(n) },
			"sizes": func(n *schema.Node) { l.texts(n) },
			"theme": func(n *schema.Node) { choice(l, n, "light", "dark") },
		}, "src")
	}
}

// iconSource reads the URI of a picture. Clients refuse URIs that could be a script or a file (LET01).
func (l *loader) iconSource(n *schema.Node) {
	const hint = "write an https address, or data:image/ with the picture itself"
	src := l.address(n).Value
	scheme, _, _ := strings.Cut(src, ":")
	switch err := address.Picture(src); {
	case src == "": // address has reported it
	case err != nil:
		l.ds.Report(n, "icon-source", hint, "%v", err)
	case strings.EqualFold(scheme, "http"):
		l.ds.Warn(n, "icon-source", hint, "many clients show no picture from an http address")
	}
}

func (l *loader) execution(e *Execution, n *schema.Node) {
	e.Node = n
	readers := l.taskTimes(&e.TaskTimes)
	readers["timeout"] = l.duration(&e.Timeout)
	readers["maxConcurrent"] = l.count(&e.MaxConcurrent, "leave it out for any number")
	readers["onCrash"] = func(n *schema.Node) { e.OnCrash = choice(l, n, FailOnCrash, RerunOnCrash) }
	readers["maxReruns"] = l.count(&e.MaxReruns, "write onCrash: fail for none")
	readers["taskSupport"] = func(n *schema.Node) { e.Support = choice(l, n, Forbidden, Optional, Required) }
	l.fields(n, "execution", readers)
}

func (l *loader) cancellation(c *Cancellation, n *schema.Node) {
	c.Node = n
	l.fields(n, "cancellation", map[string]func(*schema.Node){
		"mode":    func(n *schema.Node) { c.None = choice(l, n, "none", "cooperative") == "none" },
		"because": l.into(&c.Because),
	}, "mode")
}
