package subsume

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/schema"
)

// mostStates and mostReads bound the search for a text: states that are reached, and characters that are read.
const (
	mostStates = 3_000
	mostReads  = 60_000
)

// shortest returns a shortest text, with a length in size, that each pattern matches, or does not match, as its expression says, and that is not
// excluded. The patterns are run together, one character after the other; each state that they reach is followed once for each length.
func shortest(patterns []expression, size span, excluded []*schema.Node) (string, answer) {
	m := machine{}
	for _, p := range patterns {
		if err := m.add(p); err != nil {
			return "", unsure
		}
	}
	for _, word := range excludedTexts(excluded) {
		if err := m.add(expression{`\A(?:` + literally(word) + `)\z`, false}); err != nil {
			return "", unsure
		}
	}
	return m.search(size)
}

// literally quotes a text for a pattern.
func literally(text string) string {
	var b strings.Builder
	for _, r := range text {
		fmt.Fprintf(&b, `\x{%x}`, r)
	}
	return b.String()
}

// machine runs several patterns at once.
type machine struct {
	programs []*syntax.Prog
	matches  []bool
}

func (m *machine) add(p expression) error {
	re, err := syntax.Parse(p.source, syntax.Perl)
	if err != nil {
		return err
	}
	prog, err := syntax.Compile(re.Simplify())
	m.programs, m.matches = append(m.programs, prog), append(m.matches, p.matches)
	return err
}

// state is the state of all programs before the next character.
type state struct {
	threads [][]uint32 // instructions at which each program continues, sorted; nil once it has matched
	matched []bool
	before  rune
	text    string
	length  int
}

func (st *state) key(size span) string {
	// Beyond the least length, the length of a text matters only if it may become too long; shorter texts come first.
	return fmt.Sprint(st.threads, st.matched, contextOf(st.before), min(st.length, size.least))
}

// contextOf classifies characters as \b, ^ and $ distinguish them.
func contextOf(r rune) int {
	switch {
	case r < 0:
		return 0
	case r == '\n':
		return 1
	case syntax.IsWordChar(r):
		return 2
	}
	return 3
}

func (m *machine) search(size span) (string, answer) {
	if size.least > mostStates {
		return "", unsure
	}
	alphabet := m.alphabet()
	start := &state{threads: make([][]uint32, len(m.programs)), matched: make([]bool, len(m.programs)), before: -1}
	queue, seen, reads := []*state{start}, map[string]bool{start.key(size): true}, 0
	for len(queue) > 0 {
		st := queue[0]
		queue = queue[1:]
		if st.length >= size.least && m.accepts(st) {
			return st.text, some
		}
		if st.length >= size.most {
			continue
		}
		if reads += len(alphabet); len(seen) > mostStates || reads > mostReads {
			return "", unsure
		}
		for _, r := range alphabet {
			next := m.step(st, r)
			if next == nil {
				continue
			}
			if key := next.key(size); !seen[key] {
				seen[key] = true
				queue = append(queue, next)
			}
		}
	}
	return "", none
}

// accepts reports whether the text may end here.
func (m *machine) accepts(st *state) bool {
	for i, prog := range m.programs {
		matched := st.matched[i]
		if !matched {
			_, matched = closure(prog, st.threads[i], st.before, -1)
		}
		if matched != m.matches[i] {
			return false
		}
	}
	return true
}

// step reads one character. It returns nil if no text that begins like this can be a solution.
func (m *machine) step(st *state, r rune) *state {
	next := &state{threads: make([][]uint32, len(m.programs)), matched: slices.Clone(st.matched), before: r,
		text: st.text + string(r), length: st.length + 1}
	for i, prog := range m.programs {
		if next.matched[i] {
			continue
		}
		threads, matched := closure(prog, st.threads[i], st.before, r)
		if matched {
			if !m.matches[i] {
				return nil
			}
			next.matched[i] = true
			continue
		}
		for _, pc := range threads {
			if inst := &prog.Inst[pc]; inst.MatchRune(r) {
				next.threads[i] = append(next.threads[i], inst.Out)
			}
		}
		slices.Sort(next.threads[i])
		next.threads[i] = slices.Compact(next.threads[i])
	}
	return next
}

// closure follows the instructions that read no character, from threads and from the start, since a match may begin anywhere. It returns the
// instructions reached that read one, and whether the pattern has matched.
func closure(prog *syntax.Prog, threads []uint32, before, after rune) (reads []uint32, matched bool) {
	here := syntax.EmptyOpContext(before, after)
	met := make([]bool, len(prog.Inst))
	var visit func(pc uint32)
	visit = func(pc uint32) {
		if met[pc] {
			return
		}
		met[pc] = true
		switch inst := &prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			visit(inst.Out)
			visit(inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			visit(inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^here == 0 {
				visit(inst.Out)
			}
		case syntax.InstMatch:
			matched = true
		case syntax.InstFail:
		default:
			reads = append(reads, pc)
		}
	}
	for _, pc := range threads {
		visit(pc)
	}
	visit(uint32(prog.Start))
	return reads, matched
}

// preferred are the characters that texts are made of if the patterns allow them.
const preferred = "abcxyz012 -_./AZ"

// alphabet returns a character for each class that the programs distinguish.
func (m *machine) alphabet() []rune {
	cuts := []rune{0, '\n', '\n' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1, 0xD800, 0xE000}
	for _, prog := range m.programs {
		for i := range prog.Inst {
			cuts = append(cuts, cutsOf(&prog.Inst[i])...)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var all []rune
	for i, low := range cuts {
		high := rune(utf8.MaxRune + 1)
		if i+1 < len(cuts) {
			high = cuts[i+1]
		}
		if low > utf8.MaxRune || low == 0xD800 {
			continue
		}
		all = append(all, representative(low, high))
	}
	slices.SortStableFunc(all, func(a, b rune) int { return rank(a) - rank(b) })
	return all
}

// rank orders characters by how readable they are in a message.
func rank(r rune) int {
	if i := strings.IndexRune(preferred, r); i >= 0 {
		return i
	}
	if r > ' ' && r < 0x7f {
		return 100
	}
	if unicode.IsGraphic(r) {
		return 1000
	}
	return 2000
}

func representative(low, high rune) rune {
	for _, r := range preferred {
		if low <= r && r < high {
			return r
		}
	}
	for r := low; r < high && r < low+100; r++ {
		if unicode.IsGraphic(r) {
			return r
		}
	}
	return low
}

// cutsOf returns the characters at which an instruction begins or ceases to match. For single characters the other cases are added, since the
// instruction may ignore case.
func cutsOf(inst *syntax.Inst) (cuts []rune) {
	for i := 0; i < len(inst.Rune); i++ {
		r := inst.Rune[i]
		if len(inst.Rune)%2 == 0 && i%2 == 1 {
			r++ // the end of a range
		}
		cuts = append(cuts, r)
		if len(inst.Rune)%2 == 1 {
			cuts = append(cuts, r+1)
		}
		if len(inst.Rune) == 1 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				cuts = append(cuts, f, f+1)
			}
		}
	}
	return cuts
}
