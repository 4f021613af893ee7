package check

import (
	"errors"
	"strconv"
)

// Tag looks at the discriminating property and returns the index of the branch, whose decoder then takes the whole
// value; -1 after a violation, the value skipped.
func (d *Decoder) Tag(u *Union) int {
	if d.peek() != '{' {
		d.wrong("type", "an object", u.At)
		return -1
	}
	start := d.pos
	found := d.find(u.Key)
	if !found || d.peek() != '"' {
		d.badTag(u, start, found)
		return -1
	}
	tagStart := d.pos
	t, ok := d.scanString()
	if !ok {
		return -1
	}
	tag := d.value(t.span)
	for i := range u.Tags {
		if u.Tags[i] == string(tag) {
			d.leave(start)
			return i
		}
	}
	d.pos = tagStart
	d.badTag(u, start, true)
	return -1
}

// badTag reports the property at pos, or that it is missing, and skips the object.
func (d *Decoder) badTag(u *Union, start int, found bool) {
	p := problem{at: u.At, keyword: u.Keyword, last: u.Key, found: "nothing", allowed: "one of " + list(u.Tags, ", "), offset: start}
	if found {
		p.offset = d.pos
		d.Skip()
		if d.err != nil {
			return
		}
		p.found = show(d.data[p.offset:d.pos])
	}
	if d.err != nil {
		return
	}
	d.leave(start)
	p.level = len(d.frames)
	d.Skip()
	d.report(p)
}

// find enters the object at pos and stops before the value of a property. leave goes back.
func (d *Decoder) find(name string) bool {
	f, ok := d.open()
	if !ok {
		return false
	}
	f.object = &anyObject
	f.field = Other
	for d.peek(); d.pos < len(d.data) && d.data[d.pos] != '}'; d.peek() {
		if f.count > 0 {
			if d.data[d.pos] != ',' {
				d.unexpected("',' or '}'")
				return false
			}
			d.pos++
		}
		if !d.key(f) {
			return false
		}
		if string(d.value(f.key)) == name {
			return true
		}
		d.Skip()
		f = &d.frames[len(d.frames)-1] // Skip may have moved the stack
	}
	return false
}

func (d *Decoder) leave(start int) {
	if d.err == nil {
		d.shut()
		d.pos = start
	}
}

// Has returns the index of the first of u.Keys that the object has; -1 after a violation, the value skipped.
func (d *Decoder) Has(u *Union) int {
	if d.peek() != '{' {
		d.wrong("type", "an object", u.At)
		return -1
	}
	start := d.pos
	for i, k := range u.Keys {
		found := d.find(k)
		if d.err != nil {
			return -1
		}
		d.leave(start)
		if found {
			return i
		}
	}
	d.wrong(u.Keyword, "an object with one of "+list(u.Keys, ", "), u.At)
	return -1
}

// Kind looks at what comes. With a rule, a kind that the rule does not take is a violation, the value is skipped and
// the result is 0.
func (d *Decoder) Kind(u *Union) Kind {
	k := kindOf(d.peek())
	if u != nil && k != 0 && k&u.Kinds == 0 {
		d.wrong(u.Keyword, u.Kinds.words(), u.At)
		return 0
	}
	if k == 0 {
		d.unexpected("a value")
	}
	return k
}

func kindOf(c byte) Kind {
	switch c {
	case '"':
		return KindString
	case '{':
		return KindObject
	case '[':
		return KindArray
	case 't', 'f':
		return KindBool
	case 'n':
		return KindNull
	}
	if c == '-' || c-'0' <= 9 {
		return KindNumber
	}
	return 0
}

var kindWords = [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}

func (k Kind) words() string {
	s := ""
	for i, w := range kindWords {
		if k>>i&1 != 0 {
			if s != "" {
				s += " or "
			}
			s += w
		}
	}
	return s
}

// Mark is a place to go back to.
type Mark struct{ pos int }

// Mark remembers the value that comes, to read it more than once (allOf).
func (d *Decoder) Mark() Mark {
	d.peek()
	return Mark{d.pos}
}

// Rewind goes back to a value that has been taken since. What was found wrong stays.
func (d *Decoder) Rewind(m Mark) {
	if d.err == nil {
		d.pos = m.pos
	}
}

// Trial tries the branches of a union on one value: Try for each, then End.
type Trial struct {
	d     *Decoder
	union *Union
	mode  trialMode
	start int
	end   int // of the value, when a branch fitted
	tried int
	fits  int
	which [2]int     // the first two that fit, counted from 1
	near  *Violation // what ended the branch that came farthest,
	reach int        // and how far
}

type trialMode uint8

const (
	anyOf trialMode = iota
	oneOf
	not
)

// errBranch ends a branch at its first violation; it never leaves the package.
var errBranch = errors.New("check: the branch does not fit")

// AnyOf begins a trial that takes the first branch that fits.
func (d *Decoder) AnyOf(u *Union) Trial { return d.trial(u, anyOf) }

// OneOf begins a trial that demands exactly one branch that fits.
func (d *Decoder) OneOf(u *Union) Trial { return d.trial(u, oneOf) }

// Not begins a trial of which no branch may fit.
func (d *Decoder) Not(u *Union) Trial { return d.trial(u, not) }

func (d *Decoder) trial(u *Union, mode trialMode) Trial {
	d.peek()
	return Trial{d: d, union: u, mode: mode, start: d.pos}
}

// Try decodes the value as one more branch; ok when it fits.
func Try[T any](t *Trial, decode func(*Decoder, *T)) (v *T, ok bool) {
	if !t.begin() {
		return nil, false
	}
	v = new(T)
	s := t.d.save()
	decode(t.d, v)
	return v, t.done(s)
}

// begin is false when the branch need not be looked at.
func (t *Trial) begin() bool {
	d := t.d
	if d.err != nil || t.mode == anyOf && t.fits > 0 {
		return false
	}
	if d.evaluated++; d.evaluated > d.limits.Evaluations {
		d.refuse(TooManyEvaluations, t.start, d.limits.Evaluations)
		return false
	}
	d.pos = t.start
	d.trials++
	t.tried++
	return true
}

// saved is what a branch may change and a trial takes back.
type saved struct {
	frames, keys, wide, items, violations, broken int
}

func (d *Decoder) save() saved {
	return saved{len(d.frames), len(d.keys.list), len(d.wide), len(d.items), len(d.violations), d.broken}
}

// done ends a branch.
func (t *Trial) done(s saved) bool {
	d := t.d
	d.trials--
	if d.err == nil {
		t.end = d.pos
		if t.fits < len(t.which) {
			t.which[t.fits] = t.tried
		}
		t.fits++
		return true
	}
	if d.err != errBranch {
		return false
	}
	d.err = nil
	d.data = d.full
	d.frames, d.keys.list = d.frames[:s.frames], d.keys.list[:s.keys]
	d.wide, d.items = d.wide[:s.wide], d.items[:s.items]
	if len(d.violations) > s.violations {
		if v := d.violations[s.violations]; t.near == nil || d.reached > t.reach {
			t.near, t.reach = &v, d.reached
		}
	}
	d.violations, d.broken = d.violations[:s.violations], s.broken
	return false
}

// End takes the value and reports it when the wrong number of branches fitted.
func (t *Trial) End() {
	d := t.d
	if d.err != nil {
		return
	}
	d.pos = t.start
	switch n := t.fits; {
	case t.mode == not && n > 0:
		d.wrong(t.union.Keyword, "a value that does not fit "+t.union.Keyword, t.union.At)
	case t.mode == oneOf && n > 1:
		d.wrong(t.union.Keyword, "a value that fits exactly one of "+plural(t.tried, "form")+"; it fits forms "+strconv.Itoa(t.which[0])+" and "+strconv.Itoa(t.which[1]), t.union.At)
	case t.mode != not && n == 0:
		near := t.near
		d.wrong(t.union.Keyword, "a value that fits one of "+plural(t.tried, "form"), t.union.At)
		if near != nil && d.err == nil && len(d.violations) < d.limits.Violations {
			d.violations = append(d.violations, *near)
			d.broken++
		}
	case n > 0:
		d.pos = t.end
	default:
		d.Skip()
	}
}
