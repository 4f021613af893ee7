package format

import (
	"regexp"
	"regexp/syntax"
	"sync"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
)

// Pattern is a regular expression with the meaning of ECMA-262, as far as RE2 has it. It is compiled on first use, so that a program
// with a thousand tools starts no later for it. It runs in linear time whatever the text (VAL07). It must not be copied after its
// first use.
type Pattern struct {
	Source string

	once sync.Once
	re   *regexp.Regexp
	dfa  *dfa
}

// Match reports whether the pattern matches anywhere in s. A Source that does not compile matches nothing; the generator
// never emits one.
func (p *Pattern) Match(s string) bool {
	p.once.Do(p.compile)
	if p.dfa != nil {
		if yes, ok := p.dfa.match(s); ok {
			return yes
		}
	}
	return p.re != nil && p.re.MatchString(s)
}

func (p *Pattern) compile() {
	source, err := pattern.RE2(p.Source)
	if err != nil {
		return
	}
	if p.re, err = regexp.Compile(source); err != nil {
		return
	}
	if parsed, err := syntax.Parse(source, syntax.Perl); err == nil {
		if prog, err := syntax.Compile(parsed.Simplify()); err == nil {
			p.dfa = newDFA(prog)
		}
	}
}

// dfa is a deterministic finite automaton: it runs a pattern over ASCII text with one table look-up a byte. Measured on ^[A-Z]{1,8}$ and four bytes, it
// takes 4 ns, regexp 95. It is built only for patterns that need few states and no word boundaries or line anchors.
type dfa struct {
	start uint8
	next  [][256]uint8
	atEnd []bool // whether the text may end in the state
}

// The first three states, and limits.
const (
	dead      = 0 // no match is possible any more
	accepted  = 1 // matched, whatever follows
	unsure    = 2 // a byte was not ASCII
	maxStates = 250
	maxWork   = 200_000 // steps of construction, about a millisecond
)

// match reports whether s matches; ok is false where s is not ASCII and that may matter.
func (m *dfa) match(s string) (yes, ok bool) {
	state, next := m.start, m.next
	for i := range len(s) {
		state = next[state][s[i]]
	}
	return m.atEnd[state], state != unsure
}

// dfaBuilder makes a dfa of a compiled program by the subset construction: a state stands for a set of instructions that may come next.
type dfaBuilder struct {
	prog  *syntax.Prog
	dfa   *dfa
	ids   map[string]uint8
	sets  [][]uint32 // the program counters of each state
	mark  []bool     // of the closure under construction
	set   []uint32
	final bool // the closure contains a match
	work  int
	bad   bool // the table would be too large
}

func newDFA(prog *syntax.Prog) *dfa {
	for i := range prog.Inst {
		if in := &prog.Inst[i]; in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
			return nil // it depends on the characters on both sides
		}
	}
	b := &dfaBuilder{prog: prog, dfa: &dfa{}, ids: map[string]uint8{}, mark: make([]bool, len(prog.Inst))}
	b.add(nil, false) // dead
	b.add(nil, true)  // accepted
	b.add(nil, false) // unsure
	for id := range b.sets {
		for c := range b.dfa.next[id] {
			b.dfa.next[id][c] = uint8(id)
		}
	}
	b.begin()
	b.close(uint32(prog.Start), syntax.EmptyBeginText)
	b.dfa.start = b.state(syntax.EmptyBeginText)
	for id := unsure + 1; id < len(b.sets) && !b.bad; id++ {
		b.row(uint8(id))
	}
	if b.bad {
		return nil
	}
	return b.dfa
}

// row fills the transitions of a state: one closure for each run of bytes that its instructions treat alike.
func (b *dfaBuilder) row(id uint8) {
	var cuts [utf8.RuneSelf]bool
	for _, pc := range b.sets[id] {
		b.cut(&b.prog.Inst[pc], &cuts)
	}
	var target uint8
	for c := range utf8.RuneSelf {
		if c == 0 || cuts[c] {
			target = b.step(id, rune(c))
		}
		if b.bad {
			return
		}
		b.dfa.next[id][c] = target
	}
	for c := utf8.RuneSelf; c < len(b.dfa.next[id]); c++ {
		b.dfa.next[id][c] = unsure
	}
}

// cut marks the bytes at which the result of an instruction changes.
func (b *dfaBuilder) cut(in *syntax.Inst, cuts *[utf8.RuneSelf]bool) {
	if in.Op != syntax.InstRune && in.Op != syntax.InstRune1 && in.Op != syntax.InstRuneAnyNotNL && in.Op != syntax.InstRuneAny {
		return
	}
	last := in.MatchRune(0)
	for c := 1; c < utf8.RuneSelf; c++ {
		if now := in.MatchRune(rune(c)); now != last {
			cuts[c], last = true, now
		}
	}
	b.spend(16)
}

func (b *dfaBuilder) step(id uint8, c rune) uint8 {
	b.begin()
	for _, pc := range b.sets[id] {
		in := &b.prog.Inst[pc]
		switch in.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if in.MatchRune(c) {
				b.close(in.Out, 0)
			}
		}
	}
	b.close(uint32(b.prog.Start), 0) // a match may begin anywhere
	return b.state(0)
}

func (b *dfaBuilder) begin() {
	for _, pc := range b.set {
		b.mark[pc] = false
	}
	b.set, b.final = b.set[:0], false
}

// close adds the instruction at pc, and those that it leads to without reading a byte, to the closure. here has the assertions that are true.
func (b *dfaBuilder) close(pc uint32, here syntax.EmptyOp) {
	if b.mark[pc] || b.bad {
		return
	}
	b.spend(1)
	b.mark[pc] = true
	b.set = append(b.set, pc)
	in := &b.prog.Inst[pc]
	switch in.Op {
	case syntax.InstMatch:
		b.final = true
	case syntax.InstAlt, syntax.InstAltMatch:
		b.close(in.Out, here)
		b.close(in.Arg, here)
	case syntax.InstCapture, syntax.InstNop:
		b.close(in.Out, here)
	case syntax.InstEmptyWidth:
		if syntax.EmptyOp(in.Arg)&^here == 0 {
			b.close(in.Out, here)
		}
	}
}

// state returns the state for the closure, a new one if there is none yet. here has the assertions that are true.
func (b *dfaBuilder) state(here syntax.EmptyOp) uint8 {
	if b.final {
		return accepted
	}
	var kept []uint32 // the instructions that read a byte, sorted
	ends := false
	for pc, in := range b.mark {
		if !in {
			continue
		}
		switch b.prog.Inst[pc].Op {
		case syntax.InstEmptyWidth:
			ends = ends || b.endsFrom(uint32(pc), here|syntax.EmptyEndText, map[uint32]bool{})
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			kept = append(kept, uint32(pc))
		}
	}
	b.spend(len(b.mark) / 8)
	key := make([]byte, 0, 4*len(kept)+1)
	for _, pc := range kept {
		key = append(key, byte(pc), byte(pc>>8), byte(pc>>16), byte(pc>>24))
	}
	if ends {
		key = append(key, 1)
	}
	if id, ok := b.ids[string(key)]; ok {
		return id
	}
	if len(b.sets) >= maxStates {
		b.bad = true
		return dead
	}
	b.ids[string(key)] = uint8(len(b.sets))
	return b.add(kept, ends)
}

// endsFrom reports whether the program, when it is at pc at the end of the text, matches.
func (b *dfaBuilder) endsFrom(pc uint32, here syntax.EmptyOp, seen map[uint32]bool) bool {
	if seen[pc] {
		return false
	}
	seen[pc] = true
	b.spend(1)
	in := &b.prog.Inst[pc]
	switch in.Op {
	case syntax.InstMatch:
		return true
	case syntax.InstAlt, syntax.InstAltMatch:
		return b.endsFrom(in.Out, here, seen) || b.endsFrom(in.Arg, here, seen)
	case syntax.InstCapture, syntax.InstNop:
		return b.endsFrom(in.Out, here, seen)
	case syntax.InstEmptyWidth:
		return syntax.EmptyOp(in.Arg)&^here == 0 && b.endsFrom(in.Out, here, seen)
	}
	return false
}

func (b *dfaBuilder) add(set []uint32, atEnd bool) uint8 {
	b.sets = append(b.sets, set)
	b.dfa.next = append(b.dfa.next, [256]uint8{})
	b.dfa.atEnd = append(b.dfa.atEnd, atEnd)
	return uint8(len(b.sets) - 1)
}

// spend counts n steps of the construction.
func (b *dfaBuilder) spend(n int) {
	if b.work += n; b.work > maxWork {
		b.bad = true
	}
}
