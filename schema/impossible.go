package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
)

// bounds are pairs of keywords of which the first must not be above the second; with strict it must be below.
var bounds = []struct {
	low, high string
	strict    bool
	kind      string // whose values they bound
}{
	{"minimum", "maximum", false, "number"},
	{"minimum", "exclusiveMaximum", true, "number"},
	{"exclusiveMinimum", "maximum", true, "number"},
	{"exclusiveMinimum", "exclusiveMaximum", true, "number"},
	{"minLength", "maxLength", false, "string"},
	{"minItems", "maxItems", false, "array"},
	{"minProperties", "maxProperties", false, "object"},
}

// impossible reports keywords of one schema that contradict each other. All its values are of the right form.
func (l *linter) impossible(n *Node) {
	for _, b := range bounds {
		from := n.Get(b.low)
		if from == nil {
			continue
		}
		low, high := from.Rat(), n.Get(b.high).Rat()
		if low == nil || high == nil {
			continue
		}
		if c := low.Cmp(high); c > 0 || b.strict && c == 0 {
			say, left := l.ds.Report, "value"
			if listsOthers(n.Get("type"), b.kind) {
				say, left = l.ds.Warn, b.kind
			}
			say(from, "impossible-schema", "lower "+b.low+", or raise "+b.high, "%s %s and %s %s leave no %s", b.low, from.Text, b.high, n.Get(b.high).Text, left)
		}
	}
	l.undeclared(n)
	l.constants(n)
	l.overlap(n)
}

// listsOthers reports whether type lists another kind of values beside kind: then keywords of kind that contradict each other still leave these.
func listsOthers(types *Node, kind string) bool {
	return types.Is(Array) && slices.ContainsFunc(types.Items, func(t *Node) bool { return t.Text != kind && !(kind == "number" && t.Text == "integer") })
}

// undeclared reports properties that are required and, by additionalProperties: false, not allowed.
func (l *linter) undeclared(n *Node) {
	if n.Get("required") == nil {
		return
	}
	closed := n.Get("additionalProperties").Is(Bool) && n.Get("additionalProperties").Text == "false"
	properties := n.Get("properties")
	for _, r := range n.Get("required").Items {
		if properties.Member(r.Text) != nil || matchesPattern(n.Get("patternProperties"), r.Text) {
			continue
		}
		hint := DidYouMean(r.Text, names(properties))
		if !closed {
			l.unknownRequired(n, r, hint)
			continue
		}
		if hint == "" {
			hint = "declare it in properties"
		}
		say := l.ds.Report
		if listsOthers(n.Get("type"), "object") {
			say = l.ds.Warn
		}
		say(r, "impossible-schema", hint, "property %s is required, and additionalProperties: false forbids it", quote(r.Text))
	}
}

// unknownRequired warns of a required property that no other keyword mentions. Where schemas are combined, another one may
// declare it: there only probable misspellings are reported.
func (l *linter) unknownRequired(n, name *Node, hint string) {
	combined := n.Get("properties") == nil || slices.ContainsFunc(n.Members, func(m Member) bool {
		return isReference(m.Key) || slices.Contains(combining, m.Key)
	}) || n != l.doc.Root && !soleSchema().MatchString(strings.TrimPrefix(n.Pointer, l.doc.Root.Pointer))
	if hint == "" && combined {
		return
	}
	if hint == "" {
		hint = "declare it in properties, if only as {}"
	}
	l.ds.Warn(name, "unknown-required", hint, "property %s is required, and properties does not have it", quote(name.Text))
}

var (
	combining = []string{"allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "additionalProperties", "unevaluatedProperties"}
	// soleSchema matches the pointers of schemas whose values no other schema applies to.
	soleSchema = lazyregexp.New(`/(properties/[^/]*|items)$`)
)

func names(n *Node) []string {
	var all []string
	for _, m := range n.members() {
		all = append(all, m.Key)
	}
	return all
}

func matchesPattern(patterns *Node, name string) bool {
	return slices.ContainsFunc(patterns.members(), func(m Member) bool {
		re, err := pattern.Compile(m.Key)
		return err != nil || re.MatchString(name)
	})
}

// constants checks const against enum, and both against type.
func (l *linter) constants(n *Node) {
	constant, enum := n.Get("const"), n.Get("enum")
	if constant != nil {
		if !hasType(n.Get("type"), constant) {
			l.ds.Report(constant, "impossible-schema", "", "const is %s, which type does not allow", describe(constant))
		}
		if enum != nil && !slices.ContainsFunc(enum.Items, func(v *Node) bool { return Equal(v, constant) }) {
			l.ds.Report(constant, "impossible-schema", "", "const is %s, which enum does not hold", describe(constant))
		}
	}
	if enum == nil {
		return
	}
	possible := slices.ContainsFunc(enum.Items, func(v *Node) bool { return hasType(n.Get("type"), v) })
	if !possible {
		l.ds.Report(enum, "impossible-schema", "", "type allows none of the values of enum")
	}
	seen := make(map[string][]*Node, len(enum.Items))
	for _, v := range enum.Items {
		if possible && !hasType(n.Get("type"), v) {
			l.ds.Warn(v, "unused-value", "", "enum holds %s, which type does not allow", describe(v))
		}
		like := likeness(v)
		if slices.ContainsFunc(seen[like], func(o *Node) bool { return Equal(o, v) }) {
			l.ds.Warn(v, "unused-value", "", "enum holds %s twice", describe(v))
		}
		seen[like] = append(seen[like], v)
	}
}

// likeness is a key for finding equal values: it is the same for them, and rarely for others.
func likeness(v *Node) string {
	switch v.Kind {
	case Number:
		f, _ := strconv.ParseFloat(v.Text, 64)
		return strconv.FormatFloat(f+0, 'g', -1, 64) // -0 is 0
	case Array:
		all := make([]string, len(v.Items))
		for i, item := range v.Items {
			all[i] = likeness(item)
		}
		return strings.Join(all, ",")
	case Object:
		all := make([]string, len(v.Members))
		for i, m := range v.Members {
			all[i] = m.Key + ":" + likeness(m.Value)
		}
		slices.Sort(all)
		return strings.Join(all, ",")
	}
	return v.Text
}

// hasType reports whether a type keyword, which may be missing, allows the value.
func hasType(types, v *Node) bool {
	if types == nil {
		return true
	}
	if types.Kind == Array {
		return slices.ContainsFunc(types.Items, func(t *Node) bool { return hasType(t, v) })
	}
	if types.Text == "integer" {
		r := v.Rat()
		return r != nil && r.IsInt()
	}
	return types.Text == v.Kind.String()
}

// Equal reports whether a and b are the same JSON value: numbers by exact value, objects whatever their order.
func Equal(a, b *Node) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Object:
		return len(a.Members) == len(b.Members) && !slices.ContainsFunc(a.Members, func(m Member) bool {
			other := b.Get(m.Key)
			return other == nil || !Equal(m.Value, other)
		})
	case Array:
		return slices.EqualFunc(a.Items, b.Items, Equal)
	case Number:
		x, y := a.Rat(), b.Rat()
		if x == nil || y == nil {
			return a.Text == b.Text
		}
		return x.Cmp(y) == 0
	default:
		return a.Text == b.Text
	}
}
