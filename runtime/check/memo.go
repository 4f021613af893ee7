package check

// memo remembers the outcomes of validating values, by the schema and by where the value begins. So a value that several
// schemas look at costs each of them once, however deep they are nested (VAL09).
//
// The memo is emptied when validation moves past every remembered value, and when it is full.
type memo struct {
	table      []outcome // open addressing; a power of two
	used       int
	last       int    // where the last value begins that has an outcome
	generation uint32 // of the current entries: older ones count as empty
	wasFull    bool   // it was full once, so values that were validated may be validated again
}

// outcome is what validating the value at start against one schema gave.
type outcome struct {
	schema     *Once
	start      int32
	end        int32 // where the value ends; if it does not fit and is not complete, where reading it failed
	generation uint32
	form       int32 // of a union: the form that fits
	fits       bool
	overflows  bool // it fits, but a number is beyond its Go type
	complete   bool // end is the end of the value, though the value does not fit
	reported   bool // its violations are reported
}

const (
	keptOutcomes = 1024    // the largest table that a decoder keeps for its next text
	minCapacity  = 1 << 15 // how many outcomes are remembered of any text, however short
)

func (m *memo) reset() {
	m.empty()
	m.wasFull = false
	if len(m.table) > keptOutcomes {
		m.table = nil
	}
}

func (m *memo) empty() {
	m.used, m.last = 0, 0
	if m.generation++; m.generation == 0 { // it has wrapped around: outcomes of old generations would count again
		m.table = nil
	}
}

// slot returns the entry of the table that has the outcome, or a free one for it.
func (m *memo) slot(schema *Once, start int32) *outcome {
	mask := uint64(len(m.table) - 1)
	for i := uint64(start) * spread >> 32 & mask; ; i = (i + 1) & mask {
		e := &m.table[i]
		if e.generation != m.generation || e.schema == nil || e.schema == schema && e.start == start {
			return e
		}
	}
}

func (m *memo) grow() {
	old := m.table
	m.table = make([]outcome, max(64, 2*len(old)))
	for _, e := range old {
		if e.generation == m.generation && e.schema != nil {
			*m.slot(e.schema, e.start) = e
		}
	}
}

// known returns the outcome of the value at start against schema, nil if it is not known.
func (d *Decoder) known(schema *Once, start int) *outcome {
	m := &d.memo
	if m.used == 0 || start > m.last {
		return nil
	}
	if e := m.slot(schema, int32(start)); e.generation == m.generation && e.schema == schema {
		return e
	}
	return nil
}

// remember keeps an outcome. How many outcomes are kept is bounded by the length of the text.
func (d *Decoder) remember(v outcome) {
	m := &d.memo
	d.dropOutcomes(int(v.start))
	if m.used > len(d.full)/4+minCapacity {
		if !m.wasFull {
			d.evaluated, d.reread = 0, 0
		}
		m.empty()
		m.wasFull = true
	}
	if 2*m.used >= len(m.table) {
		d.countScratch(len(m.table) * sizeOf[outcome]())
		m.grow()
	}
	v.generation = m.generation
	e := m.slot(v.schema, v.start)
	if e.generation != m.generation || e.schema == nil {
		m.used++
	}
	*e = v
	m.last = max(m.last, int(v.start))
}

// dropOutcomes empties the memo when no value in it will be read again.
func (d *Decoder) dropOutcomes(start int) {
	if m := &d.memo; m.used > 0 && start > m.last && d.lookaheads == 0 && !d.quiet && !d.counting {
		m.empty()
	}
}

// Once validates the next value by check, unless it was validated against this schema before: then it is skipped, and its violations are not
// reported again.
func (d *Decoder) Once(schema *Once, check func(*Decoder)) {
	start := d.here()
	if v := d.known(schema, start); v != nil && d.reuse(v) {
		return
	}
	if d.lookaheads == 0 && !d.quiet && !d.counting {
		check(d) // the value will not be read again
		return
	}
	broken, counted, over := d.broken, d.counted, d.overflow
	d.overflow = false
	check(d)
	v := outcome{schema: schema, start: int32(start), end: int32(d.pos), overflows: d.overflow}
	d.overflow = d.overflow || over
	switch {
	case d.misfits() && d.quiet:
		v.end = int32(d.reached)
	case d.err != nil:
		return
	case d.counting && d.counted > counted:
		d.counted = counted + 1 // as reuse counts it, so that the value weighs the same in each form
		v.complete = true
	case d.broken > broken:
		v.complete, v.reported = true, true
	default:
		v.fits = true
	}
	d.remember(v)
}

// reuse does with the outcome v what validating the value again would do: it skips the value, and ends or counts the form where v does not fit, but for
// how far a form on trial was read: to the end of the value if its violations were counted before. It returns false, and does nothing, where the value
// has to be read to describe its violations.
func (d *Decoder) reuse(v *outcome) bool {
	switch {
	case v.fits:
		d.overflow = d.overflow || v.overflows
	case !d.quiet && !d.counting && !v.reported:
		return false
	case d.quiet:
		d.pos = int(v.end)
		d.countUndescribed() // which ends the form
		return true
	case d.counting:
		d.counted++
	}
	if d.pos = int(v.end); !v.fits && !v.complete {
		d.pos = int(v.start)
		d.skipRemembering()
		return true
	}
	d.reread -= d.pos - int(v.start) // the caller will count these bytes, but they were skipped, not read
	return true
}

// extent stands for a schema that every value fits: its outcomes say where values end.
var extent Once

const (
	extentText  = 4096 // the least rest of the text to remember ends in: a shorter one is skipped as fast, unless violations are counted or listed
	extentBytes = 256  // the length from which on a value is long: its end is worth remembering
)

// skipRemembering is Skip for a value that will be read again. It remembers where long values end. Otherwise nested objects that are each looked
// into would cost the square of their depth.
func (d *Decoder) skipRemembering() {
	start := d.here()
	if v := d.known(&extent, start); v != nil {
		d.pos = int(v.end)
		d.reread -= d.pos - start // as in reuse
		return
	}
	before := d.remembersEnds
	d.remembersEnds = d.listing || d.counting || len(d.data)-start >= extentText
	d.Skip()
	d.remembersEnds = before
}

// skipForReport is Skip, but remembers where values end while the violations of a form are counted or listed, since the next form may read the values
// again.
func (d *Decoder) skipForReport() {
	if d.counting || d.listing {
		d.skipRemembering()
	} else {
		d.Skip()
	}
}

// spendTry counts one more form or condition that is tried, and reports whether decoding goes on; spendReread counts the bytes that are read for it.
// Both numbers are bounded by the text and the schema while all outcomes are remembered. Once the memo was full, Limits.Evaluations is the limit, in tries
// and in KiB, beyond 64 tries and 64 bytes for each byte of the text.
func (d *Decoder) spendTry() bool {
	if d.evaluated++; d.memo.wasFull && d.evaluated > d.limits.Evaluations+len(d.full)<<6 {
		d.refuse(TooManyEvaluations, d.pos, d.limits.Evaluations)
	}
	return d.err == nil
}

func (d *Decoder) spendReread(bytes int) {
	if d.reread += bytes; d.memo.wasFull && d.reread > d.limits.Evaluations<<10+len(d.full)<<6 {
		d.refuse(TooManyEvaluations, d.pos, d.limits.Evaluations)
	}
}
