package check

import (
	"strconv"
	"strings"
)

// problem is a violation before its paths are known.
type problem struct {
	level   int    // how many frames lead to the value: len(frames) for the current value, fewer for a container of it
	at      string // At of the value's own rule
	keyword string
	found   string
	allowed string
	because string
	offset  int
	below   bool   // the instance pointer has one more step, last
	last    string // the name, which may be empty, of a property that is not there, or not allowed
}

// countUndescribed counts a violation and returns true if it is not to be described: after a failure there is nothing to
// describe, a form on trial ends with its first violation, of which d.pos is taken as the place (d.reached), and when enough are listed a bad text
// should cost no more than a good one. Otherwise it returns false and counts nothing: report does.
func (d *Decoder) countUndescribed() bool {
	switch {
	case d.err != nil:
	case d.quiet:
		d.reached = d.pos
		d.fail(errForm)
	case d.counting:
		d.counted++
	case d.stops && len(d.violations) >= d.limits.Violations && !d.listing:
		d.fail(errEnough)
	case d.isFull():
		d.count()
		d.byOrder = true
	default:
		return false
	}
	return true
}

// count counts a violation.
func (d *Decoder) count() {
	if d.broken++; !d.listing {
		d.found++
	}
}

// report records a violation.
func (d *Decoder) report(p problem) {
	if d.countUndescribed() {
		return
	}
	d.count()
	if v := d.violation(p); d.listed(&v) {
		d.omitted++
		d.byOrder = true // in another order the list may be full by then, and the violation counted (countUndescribed)
	} else {
		d.violations = append(d.violations, v)
	}
}

// listed reports whether the same violation of the same value is listed already, for another keyword.
func (d *Decoder) listed(v *Violation) bool {
	for i := len(d.violations) - 1; i >= 0; i-- {
		if w := &d.violations[i]; w.offset == v.offset && w.Found == v.Found && w.Allowed == v.Allowed && w.Instance == v.Instance {
			return true
		}
	}
	return false
}

func (d *Decoder) violation(p problem) Violation {
	var room [128]byte
	instance := d.appendInstance(room[:0], p.level)
	if p.below {
		instance = appendStep(instance, p.last)
	}
	v := Violation{Instance: string(instance), Keyword: p.keyword, Found: p.found, Allowed: p.allowed, Because: p.because, offset: p.offset}
	v.Schema = string(append(append(d.appendSchema(room[:0], p.level, p.at), '/'), p.keyword...))
	if d.hidden != "" {
		d.hide(&v)
	}
	return v
}

// appendInstance appends the JSON Pointer of the value that the first level frames lead to.
func (d *Decoder) appendInstance(b []byte, level int) []byte {
	for i := d.root; i < level; i++ {
		f := &d.frames[i]
		if f.names == nil {
			b = strconv.AppendInt(append(b, '/'), int64(f.count)-1, 10)
		} else {
			b = appendStep(b, d.value(f.key))
		}
	}
	return b
}

// appendSchema appends the fragment of the subschema of that value: at, or that of the innermost rule around it which has one, and the
// steps down from there.
func (d *Decoder) appendSchema(b []byte, level int, at string) []byte {
	from := level
	for at == "" && from > d.root {
		from--
		at = d.frames[from].at()
	}
	if at == "" {
		at = "#"
	}
	b = append(b, at...)
	for i := from; i < level; i++ {
		switch f := &d.frames[i]; {
		case f.names == nil:
			b = append(b, "/items"...)
		case f.field == Other:
			b = append(b, "/additionalProperties"...)
		default:
			b = appendStep(append(b, "/properties"...), f.names.rule.Names[f.field])
		}
	}
	return b
}

// at returns the At of the frame's rule, "" for none.
func (f *frame) at() string {
	if f.names != nil {
		return f.names.rule.At
	}
	return f.array.At
}

// appendStep appends one step of a JSON Pointer.
func appendStep[T string | []byte](b []byte, step T) []byte {
	b = append(b, '/')
	for i := range len(step) {
		switch c := step[i]; c {
		case '~':
			b = append(b, "~0"...)
		case '/':
			b = append(b, "~1"...)
		default:
			b = append(b, c)
		}
	}
	return b
}

// wrongType skips the next value and reports its type.
func (d *Decoder) wrongType(want, at string) { d.wrong("type", want, at) }

// wrong skips the next value and reports it.
func (d *Decoder) wrong(keyword, allowed, at string) {
	if d.countUndescribed() {
		d.skipForReport()
		return
	}
	d.peek()
	start := d.pos
	d.skipForReport()
	if d.err != nil {
		return
	}
	d.violated(start, at, keyword, allowed+d.orNull(start))
}

// orNull returns what to add to the words for what is allowed: " or null" if the value at start could have been null. The place decides, because
// the values in a nullable one, and those after it, need not be nullable themselves.
func (d *Decoder) orNull(start int) string {
	if d.nullable == start+1 {
		return " or null"
	}
	return ""
}

// violated reports the value that began at start and has been taken.
func (d *Decoder) violated(start int, at, keyword, allowed string) {
	if d.countUndescribed() {
		return
	}
	d.report(problem{level: len(d.frames), at: at, keyword: keyword, found: d.show(d.data[start:d.pos]), allowed: allowed, offset: start})
}

func (d *Decoder) missingKey(f *frame, name string) {
	if d.countUndescribed() {
		return
	}
	d.report(problem{level: len(d.frames) - 1, at: f.names.rule.At, keyword: "required", found: nothing, allowed: anyValue, offset: int(f.start), below: true, last: name})
}

func (d *Decoder) refusedKey(f *frame) {
	if d.countUndescribed() {
		return
	}
	names := "no property"
	if n := f.names.rule.Names; len(n) > 0 {
		names = "only " + list(n, ", ")
	}
	keyword := "additionalProperties"
	if f.names.rule.AdditionalProperties == RefuseUnevaluated {
		keyword = "unevaluatedProperties"
	}
	d.report(problem{level: len(d.frames) - 1, at: f.names.rule.At, keyword: keyword, found: unwanted, allowed: names, offset: int(f.key.start) - 1, below: true, last: string(d.value(f.key))})
}

// size reports a container that has too many or too few members or items.
func (d *Decoder) size(f *frame, keyword, words string, n int, noun string) {
	if d.countUndescribed() {
		return
	}
	d.report(problem{level: len(d.frames) - 1, at: f.at(), keyword: keyword, found: plural(int(f.count), noun), allowed: words + plural(n, noun), offset: int(f.start)})
}

// unmatchedKey reports a member whose name is not that of a known property and matches no pattern.
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
	d.report(problem{level: len(d.frames) - 1, at: k.rule.At, keyword: "additionalProperties", found: unwanted, allowed: allowed, offset: int(f.key.start) - 1, below: true, last: k.name})
}

// unevaluated reports the current member or item, which no schema evaluates.
func (d *Decoder) unevaluated(r *Unevaluated) {
	if d.countUndescribed() {
		return
	}
	noun := "a property"
	if r.Items {
		noun = "an item"
	}
	d.report(problem{level: len(d.frames), at: r.At, keyword: r.Keyword, found: noun + " that no schema mentions", allowed: "only what the schemas mention", offset: d.here()})
}

// miscount reports the array that comes next, which is not taken, for the number of its matching items.
func (d *Decoder) miscount(keyword, at string, n int, allowed string) {
	if d.countUndescribed() {
		return
	}
	d.report(problem{level: len(d.frames), at: at, keyword: keyword, found: plural(n, "matching item"), allowed: allowed, offset: d.pos})
}

// repeatedKey reports a key that its object already has. A trial does not take the violation back, which does not depend on the schema.
func (d *Decoder) repeatedKey(f *frame) {
	offset := int(f.key.start) - 1
	for i := range d.repeated {
		if d.repeated[i].offset == offset {
			return
		}
	}
	if len(d.repeated) >= d.limits.Violations {
		return
	}
	key := string(d.value(f.key))
	p := problem{level: len(d.frames) - 1, keyword: "duplicate", found: quote(key), allowed: "each key once", offset: offset, below: true, last: key}
	root := d.root
	d.root = 0 // the path of a repeated key begins at the whole text, even in Within
	v := d.violation(p)
	d.root = root
	v.Schema = strings.TrimSuffix(v.Schema, "/duplicate")
	d.repeated = append(d.repeated, v)
}

// allViolations returns all violations, repeated keys among them.
func (d *Decoder) allViolations() Violations {
	return d.bounded(append(d.violations, d.repeated...), d.broken-d.omitted+len(d.repeated))
}

// bounded sorts the listed violations, and adds one that says how many of those found are not listed.
func (d *Decoder) bounded(all Violations, found int) Violations {
	all.Sort()
	all = all[:min(len(all), d.limits.Violations)]
	if more := found - len(all); more > 0 {
		all = append(all, Violation{Keyword: "more", Found: plural(more, "further violation"), Allowed: "none; at most " + plural(d.limits.Violations, "violation") + " are listed, and " + strconv.Itoa(mostOfUnion) + " of a union"})
	}
	return all
}
