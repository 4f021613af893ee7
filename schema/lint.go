package schema

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// Lint reports everything that makes no sense in the document: misspelt and ill-typed keywords, references that
// lead nowhere or in a circle, patterns that are not RE2, schemas that no value satisfies, defaults that their own
// schema refuses (VAL03). It knows every keyword of the drafts; which of them can be generated is not its question.
func (d *Document) Lint() Diagnostics {
	l := linter{doc: d, seen: map[*Node]bool{}, passed: map[*Node]bool{}}
	l.schema(d.Root)
	for i := 0; i < len(l.targets); i++ {
		l.schema(l.targets[i])
	}
	for _, n := range l.met {
		l.circles(n)
	}
	if !l.ds.HasErrors() {
		l.samples()
	}
	l.ds.Sort()
	return l.ds
}

type linter struct {
	doc     *Document
	ds      Diagnostics
	seen    map[*Node]bool
	met     []*Node        // every schema, in the order of seeing it
	targets []*Node        // that references lead to
	passed  map[*Node]bool // by circles: false while it is on the path
	sampled []*Node        // schemas with a default or examples
}

func (l *linter) schema(n *Node) {
	if n.Kind == Bool || l.seen[n] {
		return
	}
	l.seen[n] = true
	if n.Kind != Object {
		l.ds.Report(n, "not-a-schema", "", "%s stands where a schema should", describe(n))
		return
	}
	l.met = append(l.met, n)
	good := true
	for i := range n.Members {
		good = l.keyword(n, &n.Members[i]) && good
	}
	if good {
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
		l.unknown(n, m)
		return true
	}
	before := len(l.ds)
	switch f {
	case formType:
		l.types(m.Value)
	case formEnum:
		l.enum(m.Value)
	case formPattern:
		l.pattern(m.Value)
	case formItems:
		if m.Value.Kind == Array && l.doc.Dialect == Draft2020 {
			l.ds.Report(m.Value, "keyword-type", "write prefixItems, which replaced the list form of items",
				"items takes one schema in this dialect, not a list")
		}
	default:
		l.value(m.Key, f, m.Value)
	}
	if m.Key == "$ref" && m.Value.Kind == String {
		l.ref(m.Value)
	}
	if m.Key == "$schema" && n != l.doc.Root && dialectOf(n, l.doc.Dialect, &l.ds) != l.doc.Dialect {
		l.ds.Report(m.Value, "mixed-dialects", "", "a part of a document can not be of another dialect than its root")
	}
	return len(l.ds) == before
}

// unknown lets annotations pass. What is one slip away from a keyword would be a constraint that nobody enforces.
func (l *linter) unknown(n *Node, m *Member) {
	if strings.HasPrefix(m.Key, "x-") || annotations[m.Key] {
		return
	}
	hint := DidYouMean(m.Key, keywordNames)
	if hint == "" {
		hint = DidYouMean(strings.ReplaceAll(m.Key, "_", ""), keywordNames)
	}
	if hint != "" {
		l.ds.ReportAt(m.KeyPos, m.Value.Pointer, "misspelt-keyword", hint, "%s is no keyword of JSON Schema", quote(m.Key))
	}
}

// article names what a form takes; forms that are missing take a schema, or anything.
var article = map[form]string{
	formString: "a string", formBool: "true or false", formNumber: "a number", formPositive: "a number above zero",
	formCount: "an integer from zero", formArray: "a list", formStrings: "a list of strings",
	formStringLists: "an object of lists of strings", formFlags: "an object of booleans",
	formSchemas: "a list of at least one schema", formSchemaMap: "an object of schemas",
	formPatternMap: "an object of schemas", formDependencies: "an object of schemas or of lists of strings",
}

func (l *linter) value(keyword string, f form, v *Node) {
	switch {
	case !l.fits(f, v):
		l.misfit(keyword, f, v)
	case f == formStrings:
		l.strings(keyword, v)
	case f == formStringLists || f == formDependencies || f == formFlags:
		l.members(keyword, f, v)
	case f == formPatternMap:
		for i := range v.Members {
			l.regexp(v.Members[i].KeyPos, v.Members[i].Value.Pointer, v.Members[i].Key)
		}
	}
}

func (l *linter) misfit(keyword string, f form, v *Node) {
	hint := ""
	switch {
	case v.Kind == Number && number(v) == nil:
		l.ds.Report(v, "keyword-type", "", "%s is %s, beyond what can be computed with", keyword, describe(v))
		return
	case v.Kind == String && !v.Plain && (isNumber(v.Text) || v.Text == "true" || v.Text == "false"):
		hint = "remove the quotes"
	case keyword == "required" && v.Kind == Bool:
		hint = "list the name in required of the object around it"
	case (keyword == "exclusiveMinimum" || keyword == "exclusiveMaximum") && v.Kind == Bool:
		hint = "give the limit itself, in place of " + strings.ToLower(keyword[9:])
	}
	l.ds.Report(v, "keyword-type", hint, "%s takes %s, not %s", keyword, article[f], describe(v))
}

// fits checks the value itself, not what it holds.
func (l *linter) fits(f form, v *Node) bool {
	switch f {
	case formString:
		return v.Kind == String
	case formBool:
		return v.Kind == Bool
	case formNumber, formPositive, formCount:
		r := number(v)
		return r != nil && (f != formPositive || r.Sign() > 0) && (f != formCount || r.IsInt() && r.Sign() >= 0)
	case formArray, formStrings:
		return v.Kind == Array
	case formSchemas:
		return v.Kind == Array && len(v.Items) > 0
	case formSchemaMap, formPatternMap, formStringLists, formDependencies, formFlags:
		return v.Kind == Object
	}
	return true
}

func (l *linter) strings(keyword string, v *Node) {
	seen := make(map[string]bool, len(v.Items))
	for _, item := range v.Items {
		switch {
		case item.Kind != String:
			l.ds.Report(item, "keyword-type", "", "%s lists strings, not %s", keyword, describe(item))
		case seen[item.Text]:
			l.ds.Report(item, "keyword-type", "", "%s lists %s twice", keyword, quote(item.Text))
		}
		seen[item.Text] = true
	}
}

// members checks what stands under each key of a keyword that takes an object of something else than schemas.
func (l *linter) members(keyword string, f form, v *Node) {
	for i := range v.Members {
		m := v.Members[i].Value
		switch {
		case m.Kind == Array && f != formFlags:
			l.strings(keyword, m)
		case f == formStringLists:
			l.ds.Report(m, "keyword-type", "", "%s takes lists of strings, not %s", keyword, describe(m))
		case f == formFlags && m.Kind != Bool:
			l.ds.Report(m, "keyword-type", "", "%s takes true or false, not %s", keyword, describe(m))
		}
	}
}

// number returns the exact value of a number, or nil if n is none or is beyond what any program computes with:
// an exponent of ten digits must not fill the memory.
func number(n *Node) *big.Rat {
	const mostDigits, mostExponent = 1000, 4
	if !n.Is(Number) || len(n.Text) > mostDigits {
		return nil
	}
	if i := strings.IndexAny(n.Text, "eE"); i >= 0 && len(strings.TrimLeft(n.Text[i+1:], "+-0")) > mostExponent-1 {
		return nil
	}
	r, ok := new(big.Rat).SetString(n.Text)
	if !ok {
		return nil
	}
	return r
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
			hint := DidYouMean(t.Text, typeNames)
			if hint == "" {
				hint = "the types are " + strings.Join(typeNames, ", ")
			}
			l.ds.Report(t, "unknown-type", hint, "%s is no type", quote(t.Text))
		case slices.ContainsFunc(list[:i], func(o *Node) bool { return o.Text == t.Text }):
			l.ds.Report(t, "keyword-type", "", "type %s is listed twice", quote(t.Text))
		}
	}
}

func (l *linter) enum(v *Node) {
	if v.Kind != Array {
		l.ds.Report(v, "keyword-type", "", "enum takes a list, not %s", describe(v))
	} else if len(v.Items) == 0 {
		l.ds.Report(v, "impossible-schema", "", "enum allows nothing")
	}
}

func (l *linter) pattern(v *Node) {
	if v.Kind != String {
		l.ds.Report(v, "keyword-type", "", "pattern takes a string, not %s", describe(v))
		return
	}
	l.regexp(v.Pos, v.Pointer, v.Text)
}

// regexp holds patterns to RE2: it has no construct that takes more than linear time (VAL07).
func (l *linter) regexp(pos Position, pointer, text string) {
	_, err := regexp.Compile(text)
	if err == nil {
		return
	}
	hint := "patterns are RE2: write it without lookaround and backreferences, or check it in the handler"
	if strings.Contains(text, `\u`) {
		hint = `patterns are RE2: write \uXXXX as the character itself`
	}
	reason := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	l.ds.ReportAt(pos, pointer, "pattern", hint, "pattern is not RE2: %s", reason)
}

func (l *linter) ref(v *Node) {
	target, d := l.doc.Resolve(v.Text, v)
	if d != nil {
		l.ds = append(l.ds, *d)
		return
	}
	home := l.doc.home(target)
	if home == l.doc {
		l.targets = append(l.targets, target)
		return
	}
	switch {
	case home.Dialect != l.doc.Dialect:
		l.ds.Report(v, "mixed-dialects", "give both the same $schema", "$ref %s leads to a schema of another dialect", quote(v.Text))
	case l.doc.ids.enclosing(v.Pointer).uri != "":
		l.ds.Report(v, "shared-under-id", "remove the $id", "$ref %s can not stand below an $id, where # means something else", quote(v.Text))
	}
}

// circles reports references that lead back to where they started without a step into the value: checking them
// would never end.
func (l *linter) circles(n *Node) {
	const walking, done = false, true
	if n.Kind != Object {
		return
	}
	if _, met := l.passed[n]; met {
		return
	}
	l.passed[n] = walking
	l.inPlace(n, func(next, ref *Node) {
		state, met := l.passed[next]
		if met && state == walking && ref != nil {
			l.ds.Report(ref, "ref-circle", "", "$ref %s leads in a circle without looking into the value", quote(ref.Text))
		} else if !met {
			l.circles(next)
		}
	})
	l.passed[n] = done
}

// inPlace calls visit for each schema that is applied to the same value as n, with the $ref that leads there.
func (l *linter) inPlace(n *Node, visit func(next, ref *Node)) {
	for i := range n.Members {
		m := &n.Members[i]
		switch m.Key {
		case "$ref":
			if target, d := l.doc.Resolve(m.Value.Text, m.Value); d == nil && m.Value.Kind == String {
				visit(target, m.Value)
			}
		case "allOf", "anyOf", "oneOf":
			for _, s := range m.Value.Items {
				visit(s, nil)
			}
		case "not", "if", "then", "else":
			visit(m.Value, nil)
		case "dependentSchemas":
			for _, s := range m.Value.members() {
				visit(s.Value, nil)
			}
		}
	}
}
