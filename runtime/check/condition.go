package check

import (
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// This file has the conditions: keywords that give no Go type. They validate the next value without taking it, except If, which is called within Also.

// Also validates the value against one more schema.
func (d *Decoder) Also(check func(*Decoder)) {
	start := d.here()
	d.lookaheads++
	check(d)
	d.lookaheads--
	d.rewind(start)
}

// rewind goes back to start, the beginning of a value.
func (d *Decoder) rewind(start int) {
	d.nullable = 0 // where the schema of the lookahead allows null, that of the reading that follows may not
	if d.spendReread(d.pos - start); d.err == nil {
		d.pos = start
	}
}

// Fits reports whether the value satisfies a schema, without listing violations.
func (d *Decoder) Fits(check func(*Decoder)) bool {
	start := d.here()
	if d.err != nil || !d.spendTry() {
		return false
	}
	var s saved
	d.save(&s)
	d.quiet = true
	check(d)
	read := d.pos
	failed := d.restore(&s)
	if failed {
		read = d.reached
	}
	if d.err != nil {
		return false
	}
	d.spendReread(read - start)
	d.pos = start
	return !failed
}

// notUnder is Violation.Allowed for a not whose schema is too complex for words, or where the words would reveal a hidden value.
const notUnder = "a value that does not fit the schema under not"

// Not reports a value that satisfies a schema. The violation says what has to change.
func (d *Decoder) Not(r *Not, check func(*Decoder)) {
	start := d.here()
	if !d.Fits(check) || d.countUndescribed() {
		return
	}
	p := problem{level: len(d.frames), at: r.At, keyword: "not", allowed: printableUpTo(r.Allowed, maxShownExactly), below: r.Key != "", last: r.Key}
	if r.Allowed == "" {
		p.allowed = notUnder
	}
	switch {
	case r.Key == "": // the value as a whole has to change
		p.offset, p.found = d.showMember("")
	case kindOf(d.peek()) != KindObject: // it fits because it has no members
		p.below, p.allowed = false, KindObject.words()
		p.offset, p.found = d.showMember("")
	default:
		if p.offset, p.found = d.showMember(r.Key); r.Lacks { // the member has to go, whatever it is
			p.found = unwanted
		}
	}
	if d.pos = start; d.err == nil {
		d.report(p)
	}
}

// showMember shows a member, or with "" the value itself, and where it begins.
func (d *Decoder) showMember(key string) (int, string) {
	start := d.here()
	at := start
	if key != "" {
		if !d.find(key) {
			d.leave(start)
			return start, nothing
		}
		at = d.here()
		d.leave(start)
		d.pos = at
	}
	d.Skip()
	if d.err != nil {
		return at, nothing
	}
	return at, d.show(d.data[at:d.pos])
}

// If takes the value as then does if it satisfies condition, else as otherwise does. then, otherwise and r may be nil.
func (d *Decoder) If(r *Because, condition, then, otherwise func(*Decoder)) {
	fits := d.Fits(condition)
	if !fits {
		then = otherwise
	}
	if then == nil || d.err != nil {
		return
	}
	listed := len(d.violations)
	then(d)
	switch {
	case r == nil:
	case fits:
		d.explain(listed, r.Then)
	default:
		d.explain(listed, r.Else)
	}
}

// explain adds to the violations from listed on why the rule that they break applies.
func (d *Decoder) explain(listed int, why string) {
	for i := listed; i < len(d.violations) && why != ""; i++ {
		if d.reveals(why) {
			why = ofHidden
		}
		v := &d.violations[i]
		inner := v.Because
		if v.Because = printableUpTo(why, maxShownExactly); inner != "" {
			v.Because += " and " + inner
		}
	}
}

// When validates an object that has the member key against one more schema.
func (d *Decoder) When(key string, check func(*Decoder)) {
	if !d.HasKey(key) {
		return
	}
	listed := len(d.violations)
	d.Also(check)
	if len(d.violations) > listed {
		d.explain(listed, quote(key)+isThere)
	}
}

const isThere = " is there"

// HasKey reports whether the next value is an object with that member.
func (d *Decoder) HasKey(name string) bool {
	if d.peek() != '{' {
		return false
	}
	if at, ok := d.glanceAt(name, signature([]byte(name))); ok {
		return at >= 0
	}
	start := d.pos
	found := d.find(name)
	d.leave(start)
	return found && d.err == nil
}

// Dependents is the rule of dependentRequired: if the object has a member, it must have others, too.
type Dependents struct {
	At      string
	Keyword string
	Needs   []Need
}

// Need says which members (Names) an object with the member Key must have.
type Need struct {
	Key   string
	Names []string
}

// Needs reports the members that the object lacks and that r demands.
func (d *Decoder) Needs(r *Dependents) {
	for i := range r.Needs {
		n := &r.Needs[i]
		if !d.HasKey(n.Key) {
			continue
		}
		for _, name := range n.Names {
			if !d.HasKey(name) && !d.countUndescribed() {
				d.report(problem{level: len(d.frames), at: r.At, keyword: r.Keyword, found: nothing, allowed: anyValue, because: quote(n.Key) + isThere, offset: d.pos, below: true, last: name})
			}
		}
	}
}

// Name validates the name of the current member.
func (d *Decoder) Name(check func(*Decoder)) {
	if d.err != nil {
		return
	}
	pos, key := d.pos, d.frames[len(d.frames)-1].key
	d.pos = int(key.start) - 1
	check(d)
	if d.spendReread(int(key.end - key.start)); d.err == nil {
		d.pos = pos
	}
}

// Keys is the rule of members whose names match patterns (patternProperties). AdditionalProperties says how a member is treated whose name matches
// none: with Keep, Matches gives it to the caller, with Index Other.
type Keys struct {
	At                   string
	Patterns             []*format.Pattern
	AdditionalProperties AdditionalProperties
}

// Matches goes over the patterns that the current member's name matches:
//
//	for k := d.Match(&rule); k.Next(); {
//		switch k.Index {
//		case 0:
//			checkX(d)
//		}
//	}
type Matches struct {
	Index int // of the pattern; Other if none matches

	d       *Decoder
	rule    *Keys
	name    string
	start   int
	next    int
	matched bool
}

// Match begins the loop for the current member. It does not take the member's value.
func (d *Decoder) Match(r *Keys) Matches {
	return Matches{d: d, rule: r, name: d.Key(), start: d.here()}
}

// Next moves to the next pattern whose schema the value has to be validated against, and reports whether there is one.
func (k *Matches) Next() bool {
	d := k.d
	d.rewind(k.start)
	for d.err == nil && k.next < len(k.rule.Patterns) {
		k.Index = k.next
		k.next++
		if k.rule.Patterns[k.Index].Match(k.name) {
			k.matched = true
			return true
		}
	}
	if d.err != nil || k.matched {
		return false
	}
	k.matched, k.Index = true, Other
	if k.rule.AdditionalProperties == Refuse && !d.countUndescribed() {
		d.unmatchedKey(k)
	}
	return k.rule.AdditionalProperties == Keep
}

// NameMatches reports whether the current member's name matches a pattern of r, which refuses other names: such a member is a violation, and its value
// is skipped.
func (d *Decoder) NameMatches(r *Keys) bool {
	k := d.Match(r)
	matches := k.Next()
	if !matches {
		d.skipForReport()
	}
	return matches
}

// Index returns the position of the current item or member, counted from 0 in the order of the text.
func (d *Decoder) Index() int {
	if len(d.frames) == 0 {
		return 0
	}
	return int(d.frames[len(d.frames)-1].count) - 1
}

// Contains is the rule of the keyword contains. A Min of 0 is 0 here; of Max 0 is none, Zero is 0, as in other rules.
type Contains struct {
	At       string
	Min, Max int
}

// Contains reports an array in which too few or too many items satisfy a schema.
func (d *Decoder) Contains(r *Contains, check func(*Decoder)) {
	if d.peek() != '[' {
		return
	}
	start, n := d.pos, 0
	for ok := d.Array(nil); ok; ok = d.Item() {
		if d.Fits(check) {
			n++
		}
		d.skipRemembering()
	}
	d.rewind(start)
	switch {
	case n < r.Min && r.Min == 1:
		d.miscount("contains", r.At, n, "at least 1 matching item")
	case n < r.Min:
		d.miscount("minContains", r.At, n, "at least "+plural(r.Min, "matching item"))
	case r.Max != 0 && n > bound(r.Max):
		d.miscount("maxContains", r.At, n, "at most "+plural(bound(r.Max), "matching item"))
	}
}
