package pattern

import (
	"errors"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

const (
	re2Repeats   = 1000    // the largest count that RE2 accepts; the counts of nested repeats are multiplied
	mostRepeats  = 10_000  // the largest such product that is rewritten: matching takes in proportion to it for each character
	mostRepeated = 1 << 18 // how many bytes the pattern may have after a repeat was rewritten
)

// counts matches a repeat in braces.
var counts = lazyregexp.New(`^\{([0-9]{1,9})(,([0-9]{0,9}))?\}`)

var (
	errRepeats  = errors.New("invalid repeat count: more than " + strconv.Itoa(mostRepeats) + " repeats")
	errRepeated = errors.New("invalid repeat count: the repeats within repeats are too many")
)

// manyRepeats reports whether a pattern has what may exceed re2Repeats: numbers of four digits or more, and repeats of groups, in which there may
// be others.
func manyRepeats(text string) bool {
	if strings.Contains(text, "){") {
		return true
	}
	for i := range len(text) {
		if text[i] != '{' && text[i] != ',' {
			continue
		}
		after := strings.TrimLeft(text[i+1:], "0123456789")
		digits := len(text) - i - 1 - len(after)
		if digits >= 4 && digits <= 9 && after != "" && (after[0] == ',' || after[0] == '}') {
			return true
		}
	}
	return false
}

// repeated is an atom or group that a repeat may follow; a group as far as it has been read.
type repeated struct {
	start int // where it begins in out
	depth int // the largest product of the counts of nested repeats in it, as written to out: RE2 bounds it
	times int // the same product in the pattern
}

// include raises the products of a group to those of a part of it.
func (g *repeated) include(a repeated) {
	g.depth, g.times = max(g.depth, a.depth), max(g.times, a.times)
}

// repeat rewrites a repeat and reports whether there was one. One of more than RE2 accepts, a{3,2500}, becomes several in a row:
// a{3}a{0,1000}a{0,1000}a{0,497}.
func (r *rewriter) repeat() bool {
	if !r.many {
		return false
	}
	m := counts().FindStringSubmatch(r.text[r.at:])
	if m == nil {
		return false
	}
	low, _ := strconv.Atoi(m[1])
	high, endless := low, m[2] == ","
	if m[3] != "" {
		high, _ = strconv.Atoi(m[3])
	}
	most := max(low, high, 1)
	switch {
	case high < low:
		return false // RE2 says what is wrong
	case r.last.depth*most <= re2Repeats:
		r.replace(len(m[0]), m[0])
		r.last.depth *= most
	case r.last.times*most > mostRepeats:
		r.err = errRepeats
	default:
		r.at += len(m[0])
		chunk := re2Repeats / r.last.depth
		r.inRow(r.out.String()[r.last.start:], repeats(low, high, chunk, endless))
		r.last.depth *= chunk
	}
	r.last.times *= most
	r.group.include(r.last)
	return true
}

// inRow writes the atom or group, which is in out once already, once with each of the repeats.
func (r *rewriter) inRow(atom string, all []string) {
	if r.out.Len()+len(all)*(len(atom)+len("{1000,1000}")) > mostRepeated {
		r.err = errRepeated
		return
	}
	atom = strings.Clone(atom)
	for i, times := range all {
		if i > 0 {
			r.out.WriteString(atom)
		}
		r.out.WriteString(times)
	}
}

// repeats returns repeats of at most chunk each that in a row mean the same as one from low to high.
func repeats(low, high, chunk int, endless bool) []string {
	var all []string
	for n := low; n > 0; n -= chunk {
		all = append(all, "{"+strconv.Itoa(min(n, chunk))+"}")
	}
	for n := high - low; n > 0; n -= chunk {
		all = append(all, "{0,"+strconv.Itoa(min(n, chunk))+"}")
	}
	if endless {
		all = append(all, "*")
	}
	return all
}

// begin notes where the next atom or group begins in out, since it may be repeated; a group begins at its parenthesis.
func (r *rewriter) begin() {
	switch r.text[r.at] {
	case '(':
		r.outer = append(r.outer, r.group)
		r.group = repeated{r.out.Len(), 1, 1}
		r.last = r.group
	case ')':
		if n := len(r.outer); n > 0 {
			r.last = r.group
			r.group, r.outer = r.outer[n-1], r.outer[:n-1]
			r.group.include(r.last)
		}
	default:
		r.last = repeated{r.out.Len(), 1, 1}
	}
}
