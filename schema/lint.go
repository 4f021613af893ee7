package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	ecma "github.com/mcpkiln/mcpkiln/runtime/check/pattern"
)

// Lint reports everything that makes no sense in the document: misspelt and ill-typed keywords, references that
// lead nowhere or in a circle, patterns that are not RE2, schemas that no value satisfies, defaults that their own
// schema refuses (VAL03). It knows every keyword of the drafts, also those that can not be generated.
func (d *Document) Lint() Diagnostics {
	l := linter{doc: d, notes: make(map[*Node]note, d.ids.schemas)}
	d.unpack()
	l.schema(d.Root)
	for i := 0; i < len(l.targets); i++ {
		l.schema(l.targets[i])
	}
	for _, n := range l.met {
		l.circles(n)
	}
	if !l.ds.HasErrors() && !l.unread {
		l.samples()
	}
	l.ds.Sort()
	return l.ds
}

type linter struct {
	doc     *Document
	ds      Diagnostics
	notes   map[*Node]note // of schemas
	met     []*Node        // every schema, in order
	targets []*Node        // schemas that references lead to
	sampled []*Node        // schemas with a default or examples
	unread  bool           // a schema has values that could not be read
}

// note is a set of facts about a schema.
type note uint8

const (
	noteSeen     note = 1 << iota
	noteProperty      // it is a property of an object
	noteField         // a property, or an item of a tuple
	noteEntered       // circles has visited it
	notePassed        // by circles: it is no longer on the path
)

// unreadIn reports whether a value of a keyword of n could not be read: then no conclusions may be drawn from its substitute.
func unreadIn(n *Node) bool {
	return n.Unread || slices.ContainsFunc(n.Members, func(m Member) bool {
		return m.Value.Unread || slices.ContainsFunc(m.Value.Items, func(item *Node) bool { return item.Unread })
	})
}

func (l *linter) schema(n *Node) {
	known := l.notes[n]
	if n.Kind == Bool || known&noteSeen != 0 {
		return
	}
	l.notes[n] = known | noteSeen
	if n.Kind != Object {
		l.ds.Report(n, "not-a-schema", schemaHint(n), "%s stands where a schema should", describe(n))
		return
	}
	l.met = append(l.met, n)
	l.isField(n)
	good := true
	for i := range n.Members {
		good = l.keyword(n, &n.Members[i]) && good
	}
	unread := unreadIn(n)
	l.unread = l.unread || unread
	if good && !unread {
		l.idle(n)
		l.impossible(n)
	}
	if n.Get("default") != nil || n.Get("examples") != nil {
		l.sampled = append(l.sampled, n)
	}
	subschemas(n, l.schema)
}

// keyword checks one member of a schema and reports whether its value is of the right form.
func (l *linter) keyword(n *Node, m *Member) bool {
	f, known := keywords[m.Key]
	if !known {
		return l.unknown(n, m)
	}
	before := len(l.ds)
	switch f {
	case formType:
		l.types(m.Value)
	case formEnum:
		l.enum(m.Value)
	case formPattern:
		l.pattern(m.Value)
	case formGoName, formGoType:
		l.goName(n, f, m.Value)
	case formItems:
		if m.Value.Kind == Array && l.doc.Dialect == Draft2020 {
			l.ds.Report(m.Value, "keyword-type", "write prefixItems, which replaced the list form of items"+l.doc.DialectHint(),
				"items takes one schema in this dialect, not a list")
		}
	default:
		l.value(m.Key, f, m.Value)
	}
	if isReference(m.Key) && m.Value.Kind == String {
		l.ref(n, m.Value)
	}
	if m.Key == "$schema" && n != l.doc.Root && dialectOf(n, l.doc.Dialect, &l.ds) != l.doc.Dialect {
		l.ds.Report(m.Value, "mixed-dialects", "", "a part of a document can not be of another dialect than its root")
	}
	return len(l.ds) == before
}

// unknown checks a member whose key is no keyword. A misspelt keyword is an error: it would be a constraint that is not enforced. Any other
// word gets a warning, since its author may take it for a keyword; annotations and words that begin with x- do not, unless one is x-sensitive misspelt.
// It returns false for a misspelt keyword: checks of keywords that belong together make no sense then.
func (l *linter) unknown(n *Node, m *Member) bool {
	hint := DidYouMean(m.Key, keywordNames)
	switch {
	case m.Key == sensitiveKeyword:
		l.sensitive(n, m.Value)
		return true
	case strings.HasPrefix(m.Key, "x-") && DidYouMean(m.Key, []string{sensitiveKeyword}) != "":
		hint = DidYouMean(m.Key, []string{sensitiveKeyword})
	case strings.HasPrefix(m.Key, "x-") || annotations[m.Key]:
		return true
	}
	if key, value, ok := strings.Cut(m.Key, ":"); ok && slices.Contains(keywordNames, key) {
		hint = "write a space after the colon: " + key + ": " + value
	}
	if hint == "" {
		hint = DidYouMean(strings.ReplaceAll(m.Key, "_", ""), keywordNames)
	}
	if hint != "" {
		l.ds.ReportAt(m.KeyPos, m.Value.Pointer, "misspelt-keyword", hint, "%s is no keyword of JSON Schema", quote(m.Key))
		return false
	}
	hint = "nothing is checked by it; name it x-… if it is meant for others"
	if m.Key == "nullable" {
		hint = nullableHint(n)
	}
	l.ds.report(Warning, m.KeyPos, m.Value.Pointer, "unknown-keyword", hint,
		fmt.Sprintf("%s is no keyword of JSON Schema", quote(m.Key)))
	return true
}

// nullableHint says how to write nullable of OpenAPI 3.0 in JSON Schema.
func nullableHint(n *Node) string {
	if types := typesOf(n); len(types) == 1 && types[0] != "null" && n.Get("enum") == nil {
		return "nothing is checked by it; for a value or null write type: [" + types[0] + `, "null"]`
	}
	return `nothing is checked by it; for a value or null add "null" to type, and null to enum`
}

var typeNames = []string{"null", "boolean", "object", "array", "number", "integer", "string"}

func (l *linter) types(v *Node) {
	list := []*Node{v}
	if v.Kind == Array {
		list = v.Items
	}
	if len(list) == 0 {
		l.ds.Report(v, "impossible-schema", "", "type allows nothing")
	}
	for i, t := range list {
		switch {
		case t.Kind != String:
			l.ds.Report(t, "keyword-type", "", "type takes a name or a list of names, not %s", describe(t))
		case !slices.Contains(typeNames, t.Text):
			hint := typeHint(t.Text)
			if hint == "" {
				hint = "the types are " + strings.Join(typeNames, ", ")
			}
			l.ds.Report(t, "unknown-type", hint, "%s is no type", quote(t.Text))
		case slices.ContainsFunc(list[:i], func(o *Node) bool { return o.Text == t.Text }):
			l.ds.Report(t, "keyword-type", "remove one of them", "type %s is listed twice", quote(t.Text))
		}
	}
}

func (l *linter) enum(v *Node) {
	if v.Kind != Array {
		l.ds.Report(v, "keyword-type", listHint(v), "enum takes a list, not %s", describe(v))
	} else if len(v.Items) == 0 {
		l.ds.Report(v, "impossible-schema", "list what is allowed, or remove enum", "enum allows nothing")
	}
}

func (l *linter) pattern(v *Node) {
	if v.Kind != String {
		l.ds.Report(v, "keyword-type", "", "pattern takes a string, not %s", describe(v))
		return
	}
	l.regexp(v.Pos, v.Pointer, v.Text)
}

// regexp requires patterns to be RE2, which has no construct that takes more than linear time (VAL07).
func (l *linter) regexp(pos Position, pointer, text string) {
	err := ecma.Check(text)
	if err == nil {
		if part, instead := ecma.Foreign(text); part != "" {
			l.ds.ReportAt(pos, pointer, "foreign-pattern", "write "+instead, "patterns are those of ECMA-262, which has no %s", part)
		}
		return
	}
	reason := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	if perlOnly().MatchString(reason) {
		hint := "patterns are RE2: write it without lookaround and backreferences, or check it in the handler"
		l.ds.ReportAt(pos, pointer, "pattern", hint, "pattern is not RE2: %s", construct(reason))
		return
	}
	kind, _, _ := strings.Cut(reason, ":")
	l.ds.ReportAt(pos, pointer, "pattern", patternHints[kind], "pattern can not be read: %s", reason)
}

// construct replaces the words of Go for a lookaround, which are about the syntax of its own that is closest, by its name.
func construct(reason string) string {
	for _, c := range []struct{ begins, name string }{
		{"(?<=", "lookbehind"}, {"(?<!", "negative lookbehind"}, {"(?=", "lookahead"}, {"(?!", "negative lookahead"},
	} {
		if _, text, ok := strings.Cut(reason, "`"+c.begins); ok {
			return "`" + c.begins + text + " is a " + c.name
		}
	}
	return reason
}

// perlOnly matches the errors of patterns that other engines accept and RE2 does not.
var perlOnly = lazyregexp.New("^invalid or unsupported Perl syntax|^invalid named capture: `\\(\\?<[=!]|^invalid escape sequence: `\\\\([1-9]|k)|lookaround|backreference")

// patternHints are remedies for text that is not a pattern in any engine, by the beginning of Go's message.
var patternHints = map[string]string{
	"missing closing ]":                       `close the [, or write \[ for the character`,
	"missing closing )":                       `close the (, or write \( for the character`,
	"unexpected )":                            `open it with (, or write \) for the character`,
	"missing argument to repetition operator": `write what is repeated before it, or a backslash before the character`,
	"invalid repeat count":                    `write the lower number first; at most 10,000 repeats, multiplied where repeats are in repeats; maxLength has no limit`,
	"invalid nested repetition operator":      `repeat a group: (…); there are no possessive repeats, and a* matches what a*+ does`,
}

func (l *linter) ref(n, v *Node) {
	target, d := l.doc.Resolve(v.Text, v)
	if d != nil {
		l.ds = append(l.ds, *d)
		return
	}
	l.refersToSensitive(n, v, target)
	home := l.doc.home(target)
	if home == l.doc.Meta {
		return // a $ref to the meta-schema is allowed
	}
	if home == l.doc {
		l.targets = append(l.targets, target)
		return
	}
	switch {
	case home.Dialect != l.doc.Dialect:
		l.ds.Report(v, "mixed-dialects", "give both the same $schema", "$ref leads to a schema of another dialect")
	case l.doc.ids.enclosing(v.Pointer).uri != "":
		l.ds.Report(v, "shared-under-id", "remove the $id", "$ref to a shared schema can not stand below an $id, where # means something else")
	}
}
