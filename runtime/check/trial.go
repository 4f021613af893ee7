package check

import (
	"errors"
	"strconv"
)

// Mark is a place to go back to.
type Mark struct{ pos int }

// Mark remembers the value that comes, to read it more than once (allOf).
func (d *Decoder) Mark() Mark {
	d.peek()
	return Mark{d.pos}
}

// Since returns what has been taken since, as a part of the data given to Reset; nil after a failure.
func (d *Decoder) Since(m Mark) []byte {
	if d.err != nil {
		return nil
	}
	return d.full[m.pos:d.pos:d.pos]
}

// Rewind goes back to a value that has been taken since. What was found wrong stays.
func (d *Decoder) Rewind(m Mark) {
	if d.again(d.pos - m.pos); d.err == nil {
		d.pos = m.pos
	}
}

// Trial tries the branches of a union on one value: Try for each, then End.
//
// A branch is decoded without words for what is wrong in it, because most branches are meant to fail. Only when none
// fits, the one that came farthest is decoded once more, to tell why.
type Trial struct {
	d     *Decoder
	union *Union
	mode  trialMode
	start int
	end   int // of the value, when a branch fitted
	tried int
	fits  int
	which [2]int         // the first two that fit, counted from 1
	held  bool           // one that fits can be kept
	over  func(*Decoder) // one that fits and can not: a number is beyond its Go type
	near  func(*Decoder) // the branch that came farthest,
	reach int            // and how far
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
	d := t.d
	s := d.save()
	d.quiet, d.loud, d.overflow = true, false, false
	decode(d, v)
	over := d.overflow
	if t.done(s) {
		if t.held = t.held || !over; over && t.mode != not {
			t.over = func(d *Decoder) { decode(d, new(T)) }
		}
		d.again(t.end - t.start)
		return v, d.err == nil
	}
	if d.err != nil {
		return nil, false
	}
	d.again(d.reached - t.start)
	if d.err == nil && t.mode != not && (t.near == nil || d.reached > t.reach) {
		t.near, t.reach = func(d *Decoder) { decode(d, new(T)) }, d.reached
	}
	return nil, false
}

// begin is false when the branch need not be looked at.
func (t *Trial) begin() bool {
	d := t.d
	if d.err != nil || t.mode == anyOf && t.held {
		return false
	}
	if d.evaluated++; d.evaluated > d.limits.Evaluations {
		d.refuse(TooManyEvaluations, t.start, d.limits.Evaluations)
		return false
	}
	d.pos = t.start
	t.tried++
	return true
}

// saved is what a branch may change and a trial takes back.
type saved struct {
	frames, keys, wide, items int
	quiet, loud, overflow     bool
}

func (d *Decoder) save() saved {
	return saved{len(d.frames), len(d.keys.list), len(d.wide), len(d.items), d.quiet, d.loud, d.overflow}
}

// done ends a branch.
func (t *Trial) done(s saved) bool {
	d := t.d
	if d.back(s) || d.err != nil {
		return false
	}
	t.end = d.pos
	if t.fits < len(t.which) {
		t.which[t.fits] = t.tried
	}
	t.fits++
	return true
}

// back is true when the branch did not fit; what it left open is closed then.
func (d *Decoder) back(s saved) bool {
	d.quiet, d.loud, d.overflow = s.quiet, s.loud, s.overflow
	if d.err != errBranch {
		return false
	}
	d.err = nil
	d.data = d.full
	d.frames, d.keys.list = d.frames[:s.frames], d.keys.list[:s.keys]
	d.wide, d.items = d.wide[:s.wide], d.items[:s.items]
	return true
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
		d.wrong(t.union.Keyword, "a value that does not fit the schema under "+t.union.Keyword, t.union.At)
	case t.mode == oneOf && n > 1:
		d.wrong(t.union.Keyword, "a value that fits exactly one of "+plural(t.tried, "form")+"; it fits forms "+strconv.Itoa(t.which[0])+" and "+strconv.Itoa(t.which[1]), t.union.At)
	case t.mode != not && n == 0:
		t.none()
	case n > 0 && !t.held && t.mode != not:
		t.unheld()
	case n > 0:
		d.pos = t.end
	default:
		d.Skip()
	}
}

// none reports that no branch fitted, and what is wrong with the value in the one that came farthest.
func (t *Trial) none() {
	d := t.d
	if d.lost() {
		return
	}
	d.wrong(t.union.Keyword, "a value that fits one of "+plural(t.tried, "form"), t.union.At)
	if t.near == nil || d.err != nil {
		return
	}
	t.tell(t.near, d.pos)
}

// unheld reports the number for which the branch that fits can not be kept, or leaves that to the trial around this one.
func (t *Trial) unheld() {
	d := t.d
	if d.quiet {
		d.overflow, d.pos = true, t.end
		return
	}
	if d.again(t.end - t.start); d.err == nil {
		t.tell(t.over, t.end)
	}
}

// tell decodes the value once more, to record the first violation, and goes on at end.
func (t *Trial) tell(branch func(*Decoder), end int) {
	d := t.d
	d.pos = t.start
	s := d.save()
	d.loud = true
	branch(d)
	d.back(s)
	if d.err == nil {
		d.pos = end
	}
}
