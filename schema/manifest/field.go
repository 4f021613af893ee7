package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/schema"
)

// fields gives each member of the object n to the reader of its key, in source order. A key without a reader is
// reported, and so is a required one that is missing.
func (l *loader) fields(n *schema.Node, what string, readers map[string]func(*schema.Node), required ...string) {
	if !l.is(n, schema.Object) {
		return
	}
	for _, m := range n.Members {
		if read := readers[m.Key]; read != nil {
			read(m.Value)
		} else {
			l.unknown(m, what, slices.Sorted(maps.Keys(readers)))
		}
	}
	for _, key := range required {
		if n.Get(key) == nil && (l.m.Answer || !misspelt(n, key, readers)) { // in an answer a misspelt key is only a warning
			l.missing(n, key, what)
		}
	}
}

// misspelt reports whether a key without a reader is probably key misspelt: then that is reported, and not that key is missing.
func misspelt[R any](n *schema.Node, key string, readers map[string]R) bool {
	known := slices.Sorted(maps.Keys(readers))
	return slices.ContainsFunc(n.Members, func(m schema.Member) bool {
		_, read := readers[m.Key]
		return !read && schema.Nearest(m.Key, known) == key
	})
}

// unknown reports an unknown key. In an answer of another server it is advertised, with a warning.
func (l *loader) unknown(m schema.Member, what string, known []string) {
	hint := cmp.Or(schema.DidYouMean(m.Key, known), "it may hold "+strings.Join(known, ", "))
	d := schema.Diagnostic{Pos: m.KeyPos, Pointer: m.Value.Pointer, Code: "unknown-key", Hint: hint,
		Message: fmt.Sprintf("%s has no key %q", what, m.Key)}
	if l.m.Answer {
		d.Severity, d.Hint = schema.Warning, "it is advertised as it is and does nothing"
	}
	l.ds = append(l.ds, d)
}

func (l *loader) missing(n *schema.Node, key, what string) {
	l.ds.Report(n, "missing-key", forms[what], "%s needs the key %q", what, key)
}

var kindWords = map[schema.Kind]string{schema.Object: "a mapping", schema.Array: "a list", schema.String: "a string",
	schema.Number: "a number", schema.Bool: "true or false", schema.Null: "nothing"}

// joinedKey matches a key and its value without a space between them, which YAML reads as one string.
var joinedKey = lazyregexp.New(`^([A-Za-z$]\w*):(\S.*)$`)

// is checks the kind of n and reports another one.
func (l *loader) is(n *schema.Node, kind schema.Kind) bool {
	if n.Kind == kind {
		return true
	}
	found := kindWords[n.Kind]
	switch n.Kind {
	case schema.Number, schema.Bool:
		found = n.Text
	case schema.String:
		found = fmt.Sprintf("the string %.40q", n.Text)
	}
	hint := ""
	if m := joinedKey().FindStringSubmatch(n.Text); kind == schema.Object && n.Plain && m != nil {
		hint = "write a space after the colon: " + m[1] + ": " + m[2]
	}
	if kind == schema.Bool && (n.Text == "true" || n.Text == "false") {
		hint = "remove the quotes"
	}
	if kind == schema.Bool {
		hint = cmp.Or(hint, flagWords[n.Text])
	}
	if kind == schema.Array && n.Kind == schema.String {
		hint = cmp.Or(forms[keyOf(n)], "put it in brackets, as a list")
	}
	if kind == schema.Object {
		hint = cmp.Or(hint, forms[keyOf(n)])
	}
	if n.Kind == schema.Null && kind == schema.Object && strings.HasPrefix(n.Pointer, "/tools/") && strings.Count(n.Pointer, "/") == 2 {
		hint = cmp.Or(hint, "write inputSchema: {type: object} below it")
	}
	if n.Kind == schema.Null {
		hint = cmp.Or(hint, "write one, or remove "+keyOf(n))
	}
	l.ds.Report(n, "wrong-type", hint, "%s takes %s, not %s", keyOf(n), kindWords[kind], found)
	return false
}

// forms are hints for keys that take a mapping or a list, and are often given something else or a part of it.
var forms = map[string]string{
	"icons":        `write icons: [{src: "https://example.com/icon.png"}]`,
	"audience":     "write audience: [user], [assistant] or [user, assistant]",
	"protocol":     `write protocol: {revisions: ["2025-11-25"]}`,
	"server":       "write server: {name: reports, version: 0.1.0}",
	"tools":        "write tools: {NAME: {inputSchema: {type: object}}}",
	"execution":    "write execution: {taskSupport: optional}",
	"cancellation": "write cancellation: {mode: none, because: …}",
	"arguments":    "key them by name: arguments: {NAME: {required: true}}",
}

// flagWords are hints for words that mean true or false in other formats.
var flagWords = map[string]string{"yes": "write true", "on": "write true", "no": "write false", "off": "write false"}

// keyOf names a value by the last key of its pointer.
func keyOf(n *schema.Node) string {
	if n.Pointer == "" {
		return "the manifest"
	}
	tokens := strings.Split(n.Pointer, "/")
	key := tokens[len(tokens)-1]
	if strings.Trim(key, "0123456789") == "" && len(tokens) > 2 {
		return "an entry of " + schema.UnescapeToken(tokens[len(tokens)-2])
	}
	return schema.UnescapeToken(key)
}

// text reads a string. YAML reads 1.0 and 2026-07-28 without quotes as something else, and so do other programs that
// read the manifest.
func (l *loader) text(n *schema.Node) Text {
	switch {
	case n.Plain && (n.Kind == schema.Number || n.Kind == schema.Bool):
		l.ds.Report(n, "unquoted", fmt.Sprintf("quote it: %q", n.Text), "%s takes a string, and %s without quotes is a %s",
			keyOf(n), n.Text, n.Kind)
	case n.Plain && n.Date:
		l.ds.Report(n, "unquoted", fmt.Sprintf("quote it: %q", n.Text), "%s takes a string, and %s without quotes is a date",
			keyOf(n), n.Text)
	case !l.is(n, schema.String):
		return Text{Node: n}
	}
	return Text{n.Text, n}
}

// address reads a URI with a scheme; the value is "" if it is none.
func (l *loader) address(n *schema.Node) Text {
	if !l.is(n, schema.String) { // quotes would make no address of a number
		return Text{Node: n}
	}
	t := Text{n.Text, n}
	if !format.URI.Match(t.Value) {
		l.ds.Report(n, "no-uri", "write an address such as https://example.com/a, other characters as %20", "%s takes a URI with a scheme", keyOf(n))
		t.Value = ""
	}
	return t
}

// page reads the URL of a web page, which users may open.
func (l *loader) page(n *schema.Node) Text {
	t := l.address(n)
	if scheme, _, _ := strings.Cut(t.Value, ":"); t.Value != "" && !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http") {
		l.ds.Report(n, "no-uri", "write an address such as https://example.com/a", "%s takes the address of a page, not %.32q", keyOf(n), scheme+":")
		t.Value = ""
	}
	return t
}

func (l *loader) into(t *Text) func(*schema.Node) {
	return func(n *schema.Node) { *t = l.text(n) }
}

// goName reads an exported Go identifier.
func (l *loader) goName(t *Text) func(*schema.Node) {
	return func(n *schema.Node) {
		l.ds.GoName(n)
		*t = Text{n.Text, n}
	}
}

// texts reads a list of strings, each once.
func (l *loader) texts(n *schema.Node) []Text {
	if !l.is(n, schema.Array) {
		return nil
	}
	var all []Text
	for _, item := range n.Items {
		reported := len(l.ds)
		t := l.text(item)
		if len(l.ds) == reported && slices.ContainsFunc(all, func(o Text) bool { return o.Value == t.Value }) {
			l.ds.Report(item, "duplicate-entry", "", "%s lists %q twice", keyOf(n), t.Value)
			continue
		}
		all = append(all, t)
	}
	return all
}

func (l *loader) flag(f *Flag) func(*schema.Node) {
	return func(n *schema.Node) {
		if l.is(n, schema.Bool) {
			*f = Flag{n.Text == "true", n}
		}
	}
}

// duration reads a length of time above zero.
func (l *loader) duration(d *Duration) func(*schema.Node) {
	return func(n *schema.Node) {
		if n.Kind != schema.Number && !l.is(n, schema.String) {
			return
		}
		value, err := time.ParseDuration(n.Text)
		if r := n.Rat(); r != nil && n.Kind == schema.Number {
			value = time.Duration(r.Sign())
		}
		switch {
		case n.Kind == schema.Number && value > 0:
			l.ds.Report(n, "duration", "write the unit: "+withoutExponent(n)+"s", "%s is a length of time, and %s has no unit", keyOf(n), n.Text)
		case err != nil && n.Kind == schema.String:
			hint := "write it like 90s or 1h30m; the units are ms, s, m, h"
			if strings.HasSuffix(n.Text, "d") {
				hint = "days are no unit: write 24h for one"
			}
			l.ds.Report(n, "duration", hint, "%s is a length of time, and %q is none", keyOf(n), n.Text)
		case value <= 0:
			l.ds.Report(n, "duration", "write a length such as 30s, or leave "+keyOf(n)+" out", "%s has to be above zero", keyOf(n))
		default:
			*d = Duration{value, n}
		}
	}
}

// withoutExponent is a number as durations are written.
func withoutExponent(n *schema.Node) string {
	if !strings.ContainsAny(n.Text, "eE") {
		return n.Text
	}
	f, _ := n.Rat().Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func oneOf(words []string) string { return "it is one of " + strings.Join(words, ", ") }

// count reads a whole number above zero.
func (l *loader) count(to *int, hint string) func(*schema.Node) {
	return func(n *schema.Node) {
		if !l.is(n, schema.Number) {
			return
		}
		value, err := strconv.Atoi(n.Text)
		if err != nil || value <= 0 || value > maxCount {
			l.ds.Report(n, "count", hint, "%s is a whole number from 1 to %d, and %s is none", keyOf(n), maxCount, n.Text)
			return
		}
		*to = value
	}
}

// maxCount is far more than anything that a manifest counts: runs at once, or runs of one task.
const maxCount = 1_000_000

// choice reads a string that must be one of a list.
func choice[T ~string](l *loader, n *schema.Node, of ...T) (chosen T) {
	words := make([]string, len(of))
	for i, w := range of {
		words[i] = string(w)
	}
	if n.Plain && (n.Kind == schema.Bool || n.Kind == schema.Number) {
		l.ds.Report(n, "unknown-value", oneOf(words), "%s can not be %s", keyOf(n), n.Text)
		return ""
	}
	t := l.text(n)
	if t.Node.Kind != schema.String {
		return ""
	}
	if i := slices.Index(words, t.Value); i >= 0 {
		return of[i]
	}
	l.ds.Report(n, "unknown-value", cmp.Or(schema.DidYouMean(t.Value, words), oneOf(words)), "%s can not be %q", keyOf(n), t.Value)
	return ""
}
