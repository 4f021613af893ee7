package check

// trial finds the form of a union that fits a value.
//
// When a first look (narrow) leaves one form, that one is read, and its violations are the union's. Otherwise the forms are read
// without describing what is wrong, because most are expected to fail. Only when none fits, the violations of each are
// counted, and those of the form with the fewest are listed.
type trial struct {
	d     *Decoder
	union *Union
	takes bool // the value is taken; false: it is only validated, and read again
	step  step
	start int  // where the value begins
	end   int  // where it ends, once a form fitted
	form  int  // the form that is read
	kind  Kind // of the value

	tagRead   bool   // the member union.Key was looked for, and its value is no number too large to compare
	tagAt     int    // where the value of that member begins; -1: there is none
	tagIsText bool   // that value is a string
	tagIsJSON bool   // it is a number, true, false or null, and some form has such tags
	tag       []byte // that string, or the canonical form of that value
	namesRead bool   // the names of the object's members were read
	seen      uint64 // which of the first 64 of union.Members the object has
	seenMore  []bool // which of all union.Members it has, if they are more than 64

	left        uint64 // which of the first 64 forms are possible
	state       saved  // of the decoder before the forms that are read
	fits        int    // how many forms fit
	fitting     [2]int // the first two forms that fit
	chosen      int    // the form that fits and whose value can be kept; -1: none
	overflowing int    // a form that fits, but has a value that its Go type can not hold; -1: none
	partial     bool   // the chosen form was not read in full yet
	best        int    // the form with the fewest violations; -1: none
	fewest      int    // how many violations the form best has
	tied        bool   // another form has as many
	farthest    int    // the form that was read farthest before it failed
	farthestEnd int    // where reading it failed
	mayList     int    // how many more violations stepExplain may list
}

// step is the next step of a trial.
type step uint8

const (
	stepDone    step = iota // nothing is left to read
	stepDecide              // read the form that is left
	stepDecided             // that form is being read
	stepTry                 // read each form without describing what is wrong
	stepCount               // count what is wrong in each form
	stepExplain             // read the best form to list its violations
	stepReport              // the best form is being read
)

// errForm ends a form at its first violation; callers of the package never see it.
var errForm = new(formError)

// formError is a type of its own because a type assertion is a comparison of pointers, while comparing errors is a call.
type formError struct{}

func (*formError) Error() string { return "check: the form does not fit" }

// misfits reports whether a violation ended the form that is read.
func (d *Decoder) misfits() bool {
	_, ok := d.err.(*formError)
	return ok
}

// mostOfUnion is how many violations are listed for one union. The headings of unions within it do not count, so that the list has the
// faults that they lead to, however deep those are (VAL02, VAL10).
const mostOfUnion = 3

// listFew bounds how many violations are listed for u, and returns the previous bound.
func (d *Decoder) listFew(u *Union) int {
	most := d.most
	if u.Keyword != "type" { // of a union by type, the kind alone decides which form was meant, so all its violations are listed
		d.listAtMost(mostOfUnion)
	}
	return most
}

// listAtMost bounds how many more violations are listed.
func (d *Decoder) listAtMost(n int) { d.most = min(d.most, len(d.violations)-d.headings+n) }

// isFull reports whether no more violations are listed.
func (d *Decoder) isFull() bool {
	return len(d.violations)-d.headings >= d.most || len(d.violations) >= d.limits.Violations
}

// begin looks at the next value, which is of that kind, chooses the first step, and reports whether the value is to be read, as the form t.form.
func (t *trial) begin(d *Decoder, u *Union, kind Kind, takes bool) bool {
	t.d, t.union, t.kind, t.takes = d, u, kind, takes // field by field: measured, a composite literal is written twice
	t.chosen, t.overflowing, t.best = -1, -1, -1
	t.start = d.pos
	if t.kind == 0 {
		d.unexpected("a value")
		return false
	}
	if t.takes && d.memo.used > 0 && t.reuseOutcome() {
		return t.next()
	}
	n := t.narrow()
	switch {
	case d.err != nil:
	case n == 1:
		t.step = stepDecide
	case n > 1:
		d.dropOutcomes(t.start) // those of earlier values; until this trial is over none are dropped
		t.step, t.form = stepTry, -1
		d.save(&t.state)
		return t.nextForm() || t.next()
	default: // no form is possible
		if near := t.decideNearest(); !near { // so what it lacks is not listed
			t.reportImpossible()
		}
	}
	return t.next()
}

// reuseOutcome chooses the next step by the outcome of an earlier trial of the value, and reports whether that was possible.
func (t *trial) reuseOutcome() bool {
	d := t.d
	v := d.known(&t.union.once, t.start)
	switch {
	case v == nil:
		return false
	case v.fits && !v.overflows && !d.quiet && !d.counting:
		t.form, t.step = int(v.form), stepDecide
		return true
	case v.fits && !d.quiet && !d.counting:
		return false
	}
	known := d.reuse(v)
	d.partial = d.partial || known // it was skipped, so the form around it was not read in full
	return known
}

// next moves to the next reading, of the form t.form, or returns false when the trial is over.
func (t *trial) next() bool {
	d := t.d
	for d.err == nil {
		switch t.step {
		case stepDecide:
			t.step, t.state.most = stepDecided, d.listFew(t.union)
			return true
		case stepExplain:
			t.step = stepReport
			d.save(&t.state)
			// Of tied forms the one that was read farthest is best. That depends on the order of the members, so the violations that are listed do, too
			// (byOrder), and the canonical form of the whole text is needed to choose them (tied).
			d.byOrder, d.tied = d.byOrder || t.tied, d.tied || t.tied
			d.listing, d.pos = true, t.start
			d.listAtMost(t.mayList)
			return true
		case stepTry, stepCount:
			if t.nextForm() {
				return true
			}
		default:
			return false
		}
	}
	return false
}

// nextForm moves to the next form that is possible. If there is none, it chooses the next step by those that were read, and returns false.
func (t *trial) nextForm() bool {
	d := t.d
	for t.form++; t.form < len(t.union.Forms); t.form++ {
		if !t.isLeft(t.form) {
			continue
		}
		if !d.spendTry() {
			return false
		}
		d.pos, d.overflow, d.partial = t.start, false, false
		d.quiet, d.counting, d.counted = t.step == stepTry, t.step == stepCount, 0
		return true
	}
	if t.step == stepTry {
		t.conclude()
	} else {
		t.reportNone()
	}
	return false
}

// done ends a reading. It reports whether what was read is to be kept, and whether the value is to be read once more, as the form t.form.
func (t *trial) done() (keep, more bool) {
	switch t.step {
	case stepTry:
		if keep = t.endTry(); t.step == stepDone || t.d.err != nil {
			return keep, false
		} else if t.step == stepTry && t.nextForm() {
			return keep, true
		}
	case stepDecided:
		t.d.most = t.state.most
		t.step = stepDone
		return true, false
	case stepReport:
		t.finishReport()
	case stepCount:
		t.endCount()
	}
	return keep, t.next()
}

// endTry ends the reading of a form on trial, and reports whether what was read is to be kept.
func (t *trial) endTry() bool {
	d := t.d
	over, partial, decoded := d.overflow, d.partial, d.decoded
	if d.err != nil {
		if failed := d.restore(&t.state); !failed {
			return false
		}
		d.spendReread(d.reached - t.start)
		if d.reached > t.farthestEnd {
			t.farthest, t.farthestEnd = t.form, d.reached
		}
		return false
	}
	d.tried = t.state.tried // all that restore does after a form that fits: the fields of tried
	if d.spendReread(d.pos - t.start); d.err != nil {
		return false
	}
	if t.chosen < 0 && !over {
		d.decoded, t.state.decoded = decoded, decoded
		if !partial && !t.union.One && !d.quiet && !d.counting { // most often
			t.step = stepDone
			return true
		}
	}
	return t.noteFit(over, partial)
}

// endCount ends the reading of a form whose violations were counted.
func (t *trial) endCount() {
	d := t.d
	if n := d.counted; d.err == nil {
		t.tied = t.best >= 0 && (n == t.fewest || n > t.fewest && t.tied)
		if t.best < 0 || n < t.fewest || n == t.fewest && t.form == t.farthest {
			t.best, t.fewest = t.form, n
		}
	}
	d.spendReread(d.pos - t.start)
	d.restore(&t.state)
}

// noteFit notes that the form fits, and reports whether it is the first one that can be kept. It concludes the trial if no other form can
// change the outcome.
func (t *trial) noteFit(over, partial bool) bool {
	t.end = t.d.pos
	if t.fits < len(t.fitting) {
		t.fitting[t.fits] = t.form
	}
	t.fits++
	first := t.chosen < 0 && !over
	if first {
		t.chosen, t.partial = t.form, partial
	} else if over {
		t.overflowing = t.form
	}
	switch {
	case t.form < 64 && t.left>>t.form == 1 && len(t.union.Forms) <= 64: // it was the last one
		t.conclude()
	case t.fits == 2 && t.union.One, t.chosen >= 0 && !t.union.One:
		t.conclude()
	}
	return first
}

// conclude ends the trying of forms and chooses the next step by how many fit.
func (t *trial) conclude() {
	d := t.d
	t.step, d.pos = stepDone, t.start
	switch {
	case t.fits == 0:
		t.remember(outcome{end: int32(t.farthestEnd)})
		if d.quiet {
			d.pos = t.farthestEnd
		}
		t.noneFits()
	case t.union.One && t.fits > 1:
		t.remember(outcome{end: int32(t.start)}) // no form failed, so the value fails where it begins
		if d.countUndescribed() {
			d.skipRemembering()
			return
		}
		d.wrong(t.union.Keyword, t.union.both(t.kind, t.fitting[0], t.fitting[1]), t.union.At)
	case t.chosen < 0:
		t.remember(outcome{end: int32(t.end), fits: true, overflows: true})
		t.reportOverflow()
	default:
		t.remember(outcome{end: int32(t.end), fits: true, form: int32(t.chosen)})
		t.finishChosen()
	}
}

// remember keeps an outcome inside another trial, where the value may be read again.
func (t *trial) remember(v outcome) {
	if d := t.d; t.takes && (d.quiet || d.counting) {
		v.schema, v.start = &t.union.once, int32(t.start)
		d.remember(v)
	}
}

// finishChosen ends a trial in which a form was chosen. A form that was not read in full is read once more; inside another trial, that is
// left to the outer one.
func (t *trial) finishChosen() {
	d := t.d
	switch {
	case !t.partial:
		d.pos = t.end
	case d.quiet || d.counting:
		d.partial, d.pos = true, t.end
	default:
		t.form, t.step = t.chosen, stepDecide
	}
}

// noneFits makes counting the violations of each form the next step, or skips the value where violations are not described.
func (t *trial) noneFits() {
	if t.d.countUndescribed() {
		t.d.skipRemembering()
		return
	}
	t.step, t.form = stepCount, -1
}

// reportNone reports that no form fits, and makes listing the violations of the best form the next step.
func (t *trial) reportNone() {
	d := t.d
	t.step, d.pos, t.mayList = stepDone, t.start, mostOfUnion-1
	t.reportHeading()
	t.end = d.pos
	if d.err == nil && t.best >= 0 {
		t.step, t.form = stepExplain, t.best
	}
}

// reportHeading reports that no form fits. Within the best form of another union that is left out once half of the list is full, or headings of deep
// unions would leave no room for the fault that they lead to.
func (t *trial) reportHeading() {
	d, before := t.d, len(t.d.violations)
	if d.listing && before >= d.limits.Violations/2 {
		d.skipRemembering()
		return
	}
	d.wrong(t.union.Keyword, "a value that fits one of "+plural(len(t.union.Forms), "form"), t.union.At)
	d.headings += len(d.violations) - before // 0 if the same heading is listed already
}

// reportOverflow makes it the next step to report what the Go type of the form that fits can not hold, or leaves that to the trial around this one.
func (t *trial) reportOverflow() {
	d := t.d
	if d.quiet || d.counting {
		d.overflow, d.pos = true, t.end
		return
	}
	t.step, t.form, t.mayList = stepExplain, t.overflowing, 1
}

// finishReport ends the listing of violations.
func (t *trial) finishReport() {
	d := t.d
	t.step = stepDone
	d.restore(&t.state)
	if d.spendReread(t.end - t.start); d.err == nil {
		d.pos = t.end
	}
}
