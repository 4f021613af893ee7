package manifest

import (
	"net/url"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// lint warns of entries that are valid but have no effect or contradict each other. It skips an answer, and the tools of a manifest of which only a client
// is generated: their author is somebody else. It skips a manifest with errors, too, since the warnings may follow from them.
func (l *loader) lint(root *schema.Node) {
	if l.m.Answer || l.ds.HasErrors() {
		return
	}
	l.unusedSchemas(root)
	if !l.serves() {
		return
	}
	for i := range l.m.Tools {
		l.hints(l.m.Tools[i].Annotations)
		l.described(&l.m.Tools[i])
	}
}

// unusedSchemas warns of shared schemas that nothing refers to, except {file: …}: references may name the file instead.
func (l *loader) unusedSchemas(root *schema.Node) {
	schemas := root.Get("schemas")
	if !schemas.Is(schema.Object) {
		return
	}
	used := map[string]bool{}
	var visit func(n *schema.Node) bool
	visit = func(n *schema.Node) bool {
		if n == schemas {
			return false
		}
		ref := n.Get("$ref")
		if !ref.Is(schema.String) {
			return true
		}
		if name := sharedSchema(ref.Text); name != "" && !used[name] {
			used[name] = true
			schemas.Get(name).Walk(visit)
		}
		return true
	}
	root.Walk(visit)
	for _, m := range schemas.Members {
		if !used[m.Key] && m.Value.Get("file") == nil {
			l.warnAt(m, "unused-schema", "remove it, or refer to it: $ref: \"#/schemas/"+schema.EscapeToken(m.Key)+"\"", "nothing refers to the schema "+m.Key)
		}
	}
}

// sharedSchema is the name in a reference to a shared schema; "" if it is another reference.
func sharedSchema(ref string) string {
	token, ok := strings.CutPrefix(ref, "#/schemas/")
	if !ok {
		return ""
	}
	token, _, _ = strings.Cut(token, "/")
	if text, err := url.PathUnescape(token); err == nil {
		token = text
	}
	return schema.UnescapeToken(token)
}

// hints warns of annotations that contradict each other: destructiveHint has a meaning only for tools that change something.
func (l *loader) hints(n *schema.Node) {
	if says(n, "readOnlyHint") && says(n, "destructiveHint") {
		l.warnAt(*n.Member("destructiveHint"), "contradicting-hints", "remove one of them", "a tool that only reads can not be destructive")
	}
}

// described warns of a tool without a description, by which models choose.
func (l *loader) described(t *Tool) {
	if strings.TrimSpace(t.Description.Value) == "" {
		l.ds = append(l.ds, schema.Diagnostic{Pos: t.Pos, Pointer: t.Node.Pointer, Code: "no-description", Severity: schema.Warning,
			Message: "the tool " + t.Name + " has no description, by which models choose", Hint: "say what it does, and when to call it"})
	}
}

// warnAt adds a warning at a key.
func (l *loader) warnAt(m schema.Member, code, hint, message string) {
	l.ds = append(l.ds, schema.Diagnostic{Pos: m.KeyPos, Pointer: m.Value.Pointer, Code: code, Severity: schema.Warning, Message: message, Hint: hint})
}
