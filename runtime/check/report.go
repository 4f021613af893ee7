package check

import (
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// problem is a violation before its paths are known.
type problem struct {
	level   int    // how many frames lead to the value: len(frames) is the current value, less is a container of it
	at      string // At of the value's own rule
	keyword string
	found   string
	allowed string
	offset  int
	last    string // one more step of the instance pointer: a property that is not there, or not allowed
}

// lost is true when a violation needs no words: after a failure, in a branch on trial, which it ends, and when enough
// are listed, so that a bad text costs no more than a good one.
func (d *Decoder) lost() bool {
	switch {
	case d.err != nil:
	case d.quiet:
		d.reached = d.pos
		d.fail(errBranch)
	case len(d.violations) >= d.limits.Violations:
		d.broken++
		if d.loud {
			d.fail(errBranch)
		}
	default:
		return false
	}
	return true
}

// report records a violation. In a trial the first one ends the branch: nothing more can be learnt from it.
func (d *Decoder) report(p problem) {
	if d.lost() {
		return
	}
	d.broken++
	d.violations = append(d.violations, d.violation(p))
	if d.loud {
		d.fail(errBranch)
	}
}

func (d *Decoder) violation(p problem) Violation {
	instance := d.instance(p.level)
	if p.last != "" {
		instance += "/" + escapePointer(p.last)
	}
	return Violation{
		Instance: instance, Schema: d.schema(p.level, p.at) + "/" + p.keyword,
		Keyword: p.keyword, Found: p.found, Allowed: p.allowed, Offset: p.offset,
	}
}

// instance is the JSON Pointer of the value that the first level frames lead to.
func (d *Decoder) instance(level int) string {
	var b strings.Builder
	for i := d.root; i < level; i++ {
		f := &d.frames[i]
		b.WriteByte('/')
		if f.names == nil {
			b.WriteString(strconv.Itoa(int(f.count) - 1))
			continue
		}
		b.WriteString(escapePointer(string(d.value(f.key))))
	}
	return b.String()
}

// schema is the fragment of the subschema of that value: from the innermost rule that names its place, the steps down.
func (d *Decoder) schema(level int, at string) string {
	if at != "" {
		return at
	}
	steps := ""
	for i := level - 1; i >= d.root; i-- {
		f := &d.frames[i]
		base := ""
		switch {
		case f.names == nil:
			steps = "/items" + steps
			if f.array != nil {
				base = f.array.At
			}
		case f.field == Other:
			steps = "/additionalProperties" + steps
			base = f.names.rule.At
		default:
			steps = "/properties/" + escapePointer(f.names.rule.Names[f.field]) + steps
			base = f.names.rule.At
		}
		if base != "" {
			return base + steps
		}
	}
	return "#" + steps
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

func escapePointer(s string) string {
	if strings.ContainsAny(s, "~/") {
		return pointerEscaper.Replace(s)
	}
	return s
}

// wrongType skips the value that comes and reports it.
func (d *Decoder) wrongType(want, at string) { d.wrong("type", want, at) }

// wrong skips the value that comes and reports it.
func (d *Decoder) wrong(keyword, allowed, at string) {
	if d.lost() {
		d.Skip()
		return
	}
	d.peek()
	start := d.pos
	d.Skip()
	if d.err != nil {
		return
	}
	d.broke(start, at, keyword, allowed+d.orNull())
}

// orNull completes what is allowed for a member that may be null.
func (d *Decoder) orNull() string {
	if n := len(d.frames); n > 0 {
		if f := &d.frames[n-1]; f.names != nil && f.names.rule.Null.has(int(f.field)) {
			return " or null"
		}
	}
	return ""
}

// broke reports the value that began at start and has been taken.
func (d *Decoder) broke(start int, at, keyword, allowed string) {
	if d.lost() {
		return
	}
	d.report(problem{level: len(d.frames), at: at, keyword: keyword, found: show(d.data[start:d.pos]), allowed: allowed, offset: start})
}

func (d *Decoder) missingKey(f *frame, name string) {
	if d.lost() {
		return
	}
	d.report(problem{level: len(d.frames) - 1, at: f.names.rule.At, keyword: "required", found: "nothing", allowed: "a value, it is required", offset: int(f.start), last: name})
}

func (d *Decoder) refusedKey(f *frame) {
	if d.lost() {
		return
	}
	names := "no property"
	if n := f.names.rule.Names; len(n) > 0 {
		names = "only " + list(n, ", ")
	}
	keyword := "additionalProperties"
	if f.names.rule.Unknown == RefuseUnevaluated {
		keyword = "unevaluatedProperties"
	}
	d.report(problem{level: len(d.frames) - 1, at: f.names.rule.At, keyword: keyword, found: "a property with this name", allowed: names, offset: int(f.key.start) - 1, last: string(d.value(f.key))})
}

// size reports a container that has too many or too few.
func (d *Decoder) size(f *frame, keyword, words string, n int, noun string) {
	if d.lost() {
		return
	}
	at := ""
	if f.names != nil {
		at = f.names.rule.At
	} else {
		at = f.array.At
	}
	d.report(problem{level: len(d.frames) - 1, at: at, keyword: keyword, found: plural(int(f.count), noun), allowed: words + plural(n, noun), offset: int(f.start)})
}

// unmatchedKey reports a member whose name no property and no pattern has.
func (d *Decoder) unmatchedKey(k *Matches) {
	f := &d.frames[len(d.frames)-1]
	sources := make([]string, len(k.rule.Patterns))
	for i, p := range k.rule.Patterns {
		sources[i] = p.Source
	}
	allowed := "only names that match " + list(sources, " or ")
	if names := f.names.rule.Names; len(names) > 0 {
		allowed = "only " + list(names, ", ") + " and names that match " + list(sources, " or ")
	}
	d.report(problem{level: len(d.frames) - 1, at: k.rule.At, keyword: "additionalProperties", found: "a property with this name", allowed: allowed, offset: int(f.key.start) - 1, last: k.name})
}

// unevaluated reports the current member or item, of which no schema speaks.
func (d *Decoder) unevaluated(r *Unevaluated) {
	if d.lost() {
		return
	}
	noun := "a property"
	if r.Items {
		noun = "an item"
	}
	d.report(problem{level: len(d.frames), at: r.At, keyword: r.Keyword, found: noun + " that no schema speaks of", allowed: "only what the schemas speak of", offset: d.Mark().pos})
}

// miscount reports an array, which has not been taken, by its matching items.
func (d *Decoder) miscount(keyword, at string, n int, allowed string) {
	if d.lost() {
		return
	}
	d.report(problem{level: len(d.frames), at: at, keyword: keyword, found: plural(n, "matching item"), allowed: allowed, offset: d.pos})
}

// repeatedKey reports a key that its object already has. It survives trials: it is no matter of the schema.
func (d *Decoder) repeatedKey(f *frame) {
	offset := int(f.key.start) - 1
	for i := range d.repeated {
		if d.repeated[i].Offset == offset {
			return
		}
	}
	if len(d.repeated) >= d.limits.Violations {
		return
	}
	key := string(d.value(f.key))
	p := problem{level: len(d.frames) - 1, keyword: "duplicate", found: quote(key), allowed: "each key once", offset: offset, last: key}
	root := d.root
	d.root = 0 // it is the whole text's, see Within
	v := d.violation(p)
	d.root = root
	v.Schema = strings.TrimSuffix(v.Schema, "/duplicate")
	d.repeated = append(d.repeated, v)
}

// allViolations is everything that was found.
func (d *Decoder) allViolations() Violations {
	return d.bounded(append(d.violations, d.repeated...), d.broken+len(d.repeated))
}

// bounded sorts what is listed of a number of violations, and says how many are not.
func (d *Decoder) bounded(all Violations, found int) Violations {
	sort.SliceStable(all, func(i, j int) bool { return all[i].Offset < all[j].Offset })
	all = all[:min(len(all), d.limits.Violations)]
	if more := found - len(all); more > 0 {
		all = append(all, Violation{Keyword: "more", Found: strconv.Itoa(more) + " further violations", Allowed: "none; the first " + plural(d.limits.Violations, "violation") + " are listed", Offset: len(d.full)})
	}
	return all
}

const showBytes = 60

// show makes one safe line of a JSON value.
func show(raw []byte) string {
	switch {
	case len(raw) == 0:
		return "nothing"
	case raw[0] == '{' && len(raw) > showBytes:
		return "an object"
	case raw[0] == '[' && len(raw) > showBytes:
		return "an array"
	}
	return safe(string(raw))
}

// quote makes one safe line of a text.
func quote(s string) string { return safe(string(appendString(nil, s))) }

// safe shortens a text and escapes what could disturb a terminal or a reader: controls, direction marks, line ends.
func safe(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i >= showBytes {
			b.WriteString("… (" + plural(len(s), "byte") + ")")
			break
		}
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r == utf8.RuneError || !unicode.IsGraphic(r):
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// list shows names, quoted, at most 20.
func list(names []string, sep string) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(sep)
		}
		if i == 20 {
			b.WriteString("… (" + strconv.Itoa(len(names)) + " in all)")
			break
		}
		b.WriteString(quote(n))
	}
	return b.String()
}
