package check

// memo remembers what was found out about values: by the schema and by where the value begins. So a value that several
// schemas look at costs each of them once, however deep they are nested (VAL09).
//
// It is emptied when validation moves past every remembered value, and when it is full.
type memo struct {
	table      []outcome // open addressing; a power of two
	used       int
	last       int    // where the last value begins of which something is remembered
	generation uint32 // of what counts: older entries are empty
	full       bool   // it was full once, so what was validated may be validated again
}

// outcome is what validating the value at start against one schema gave.
type outcome struct {
	schema     *Once
	start      int32
	end        int32 // of the value; of one that does not fit, how far it did
	generation uint32
	form       int32 // of a union: the form that fits
	fits       bool
	overflows  bool // it fits, but a number is beyond its Go type
	complete   bool // end is the end of the value, though it does not fit
	reported   bool // its violations are reported
}

const (
	keptOutcomes = 1024    // of a decoder between two texts
	leastFull    = 1 << 15 // outcomes that are kept of any text
)

func (m *memo) reset() {
	m.used, m.last, m.full = 0, 0, false
	if m.generation++; m.generation == 0 || len(m.table) > keptOutcomes {
		m.table = nil
	}
}

// slot returns where the outcome is, or an empty place for it.
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

// known returns what schema said of the value at start, or nil.
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

// remember keeps an outcome. The memory is bounded by the text.
func (d *Decoder) remember(v outcome) {
	m := &d.memo
	d.dropOutcomes(int(v.start))
	if m.used > len(d.full)/4+leastFull {
		if !m.full {
			d.evaluated, d.reread = 0, 0
		}
		m.used, m.last, m.full = 0, 0, true
		m.generation++
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

// dropOutcomes empties the memo when nobody will go back to what it holds.
func (d *Decoder) dropOutcomes(start int) {
	if m := &d.memo; m.used > 0 && start > m.last && d.lookaheads == 0 && !d.quiet && !d.counting {
		m.used, m.last = 0, 0
		m.generation++
	}
}

// Once checks the value that comes, unless it has been: what is known to fit is stepped over, and what is wrong is said once.
func (d *Decoder) Once(schema *Once, check func(*Decoder)) {
	start := d.here()
	if v := d.known(schema, start); v != nil && d.reuse(v) {
		return
	}
	if d.lookaheads == 0 && !d.quiet && !d.counting {
		check(d) // nobody goes back to it
		return
	}
	broken, counted, over := d.broken, d.counted, d.overflow
	d.overflow = false
	check(d)
	v := outcome{schema: schema, start: int32(start), end: int32(d.pos), overflows: d.overflow}
	d.overflow = d.overflow || over
	switch {
	case d.err == errForm && d.quiet:
		v.end = int32(d.reached)
	case d.err != nil:
		return
	case d.counted > counted, d.broken > broken:
		v.complete, v.reported = true, !d.counting
	default:
		v.fits = true
	}
	d.remember(v)
}

// reuse steps over a value of which everything is known, as v says, and returns false where the value has to be read to describe what is
// wrong in it.
func (d *Decoder) reuse(v *outcome) bool {
	switch {
	case v.fits:
		d.overflow = d.overflow || v.overflows
	case !d.quiet && !d.counting && !v.reported:
		return false
	case d.quiet:
		d.pos = int(v.end)
		d.countOnly()
		return true
	case d.counting:
		d.counted++
	}
	if d.pos = int(v.end); !v.fits && !v.complete {
		d.pos = int(v.start)
		d.skipRemembering()
		return true
	}
	d.reread -= d.pos - int(v.start)
	return true
}

// extent stands for the schema that every value fits: what is remembered for it is where a value ends.
var extent Once

const (
	extentText  = 4096 // the rest of a text from which on extents are remembered,
	extentBytes = 256  // of values as long
)

// skipRemembering is Skip for a look that goes back, and remembers where long values end: objects in objects that are all looked at do not cost the square of their depth.
func (d *Decoder) skipRemembering() {
	start := d.here()
	if v := d.known(&extent, start); v != nil {
		d.pos = int(v.end)
		d.reread -= d.pos - start
		return
	}
	spanning := d.remembersEnds
	d.remembersEnds = len(d.data)-start >= extentText
	d.Skip()
	d.remembersEnds = spanning
}

// countTry counts one more form or condition that is tried, and countReread bytes that are read for it. They are bounded by the text and the
// schema, as long as all outcomes are remembered; from then on by a limit.
func (d *Decoder) countTry() bool {
	if d.evaluated++; d.memo.full && d.evaluated > d.limits.Evaluations+len(d.full)<<6 {
		d.refuse(TooManyEvaluations, d.pos, d.limits.Evaluations)
	}
	return d.err == nil
}

func (d *Decoder) countReread(bytes int) {
	if d.reread += bytes; d.memo.full && d.reread > d.limits.Evaluations<<10+len(d.full)<<6 {
		d.refuse(TooManyEvaluations, d.pos, d.limits.Evaluations)
	}
}
