package check

import (
	"math/bits"
	"sync/atomic"
)

// attempt reads the value as one likely form after another, until one fits and no other form could be chosen instead. It describes no violations:
// if ok is false, nothing was taken, and a trial follows.
//
// Most values of unions end here, so only others pay for what a trial keeps track of: measured, a fifth of the time that a union of two small objects takes.
func attempt[T any](d *Decoder, u *Union, kind Kind, likely uint64, read func(d *Decoder, form int) T) (v T, ok bool) {
	var before saved
	d.save(&before)
	start, byNames := d.pos, kind == KindObject && u.byNames()
	for ; likely != 0; likely &= likely - 1 {
		form := bits.TrailingZeros64(likely)
		d.beginAttempt()
		v := read(d, form)
		if d.err == nil && !d.overflow && !d.partial && (!byNames || d.excludesOthers(u, form, start)) {
			d.quiet = false
			return v, true
		}
		if partial, ended := d.endAttempt(&before, start); ended {
			return v, true
		} else if partial { // the trial decides whether this form fits, so no later one may be taken before it
			break
		}
	}
	if byNames {
		d.misled++
	}
	return v, false
}

// mostMisled is how many wrong guesses one text may have: from then on whole objects are looked at before a form is chosen, since a wrong guess
// costs another reading.
const mostMisled = 4

// prepareAttempts drops outcomes that are not needed any more, and reports whether likely forms are read before a trial begins. They are not within
// a trial, where outcomes of attempts would not be remembered, nor when a refused text is read again, nor while the memo has outcomes: an attempt
// that skips parts by them decides nothing.
func (d *Decoder) prepareAttempts() bool {
	if d.quiet || d.counting || d.listing || d.stops {
		return false
	}
	if d.memo.used > 0 {
		d.dropOutcomes(d.pos)
	}
	return d.memo.used == 0
}

func (d *Decoder) beginAttempt() {
	d.spendTry()
	d.quiet, d.overflow, d.partial = true, false, false
	if n := len(d.frames); n < cap(d.frames) {
		d.frames[:n+1][n].start = -1 // so that excludesOthers does not mistake an old frame for that of this value
	}
}

// endAttempt goes back to start after a form that is not taken. It reports whether the form was read in part, and whether decoding ended.
func (d *Decoder) endAttempt(before *saved, start int) (partial, ended bool) {
	end := d.pos
	switch {
	case d.misfits():
		end = d.reached
		d.restore(before)
	case d.err != nil:
		d.quiet = false
		return false, true
	default:
		partial, d.tried = d.partial, before.tried
	}
	d.pos = start
	d.spendReread(end - start)
	return partial, false
}

// memberTable says which forms of a union members indicate.
type memberTable struct {
	indicates []int // by the index in Members.Names: the only form that needs the member; -1: none, several, or a form beyond the first 64
	// alone has for each form its nameTable, once it is known that every other form needs a member that this table lacks: then an object with no
	// other members than those in the table can only be this form.
	alone []atomic.Pointer[nameTable]
}

// byMember returns the table, which is made on first use.
func (u *Union) byMember() *memberTable {
	if t := u.members.Load(); t != nil {
		return t
	}
	return u.makeMembers()
}

func (u *Union) makeMembers() *memberTable {
	t := &memberTable{indicates: make([]int, len(u.Members.Names)), alone: make([]atomic.Pointer[nameTable], len(u.Forms))}
	for i := range t.indicates {
		t.indicates[i] = u.needing(i)
	}
	u.members.Store(t)
	return t
}

// needing returns the only form that needs the member with index i; -1 if none does, if several do, or if it is beyond the first 64.
func (u *Union) needing(i int) int {
	form := -1
	for j := range u.Forms {
		if f := &u.Forms[j]; !f.takesObjects() || f.Needs>>i&1 == 0 {
			continue
		} else if form >= 0 || j >= 64 {
			return -1
		}
		form = j
	}
	return form
}

// excludesOthers looks for the members of other forms in the object at start, which was just read as form, and reports whether form is the only
// possible one. Most objects have no members but those that the form names: their frame says so, and nothing has to be looked up.
func (d *Decoder) excludesOthers(u *Union, form, start int) bool {
	var names *nameTable
	alone := &u.byMember().alone[form]
	if n := len(d.frames); n < cap(d.frames) { // the frame of the object just closed is still in the array, at len
		if f := &d.frames[:n+1][n]; int(f.start) == start && int(f.count) == bits.OnesCount64(f.seen) {
			if names = f.names; names == alone.Load() {
				return true
			}
		}
	}
	end := d.pos
	d.pos = start
	seen, ok := d.glanceNames(&u.Members)
	d.pos = end
	if !ok || u.onlyWith(seen) != form {
		return false
	}
	if names != nil && u.tellsApart(form, names) {
		alone.Store(names)
	} else {
		d.misled++
	}
	return true
}

// tellsApart reports whether an object that has no members but those in names can only be form.
func (u *Union) tellsApart(form int, names *nameTable) bool {
	named := uint64(0)
	for i, name := range u.Members.Names {
		if names.find([]byte(name)) != Other {
			named |= 1 << i
		}
	}
	return u.onlyWith(named) == form
}
