package pattern

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

const (
	re2Repeats   = 1000    // is the most that RE2 takes, multiplied where repeats are in repeats
	mostRepeats  = 10_000  // that are rewritten: matching costs as much as the repeats for each character
	mostRepeated = 1 << 18 // bytes that rewriting them may make
)

// counts matches what repeats the atom before it.
var counts = regexp.MustCompile(`^\{([0-9]{1,9})(,([0-9]{0,9}))?\}`)

// manyRepeats finds what may be beyond re2Repeats: large numbers, and repeats of groups, in which there may be others.
var manyRepeats = regexp.MustCompile(`[{,][0-9]{4,9}[,}]|\)\{`)

var (
	errRepeats  = errors.New("invalid repeat count: more than " + strconv.Itoa(mostRepeats) + " repeats")
	errRepeated = errors.New("invalid repeat count: the repeats within repeats are too many")
)

// repeated is what a repeat is about, or a group as far as it is read.
type repeated struct {
	start int // where it begins in out
	depth int // the largest product of repeats within repeats in it, as they are written in out: RE2's measure,
	times int // and in the pattern
}

// holds notes what a part of a group repeats.
func (g *repeated) holds(a repeated) { g.depth, g.times = max(g.depth, a.depth), max(g.times, a.times) }

// repeat writes an atom's repeats. Those that are more than RE2 takes, a{3,2500}, are several in a row: a{3}a{0,1000}a{0,1000}a{0,497}.
// It reports whether there are any here that are taken.
func (r *rewriter) repeat() bool {
	if !r.many {
		return false
	}
	m := counts.FindStringSubmatch(r.text[r.at:])
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
	r.group.holds(r.last)
	return true
}

// inRow writes an atom, which is written once already, with each of the repeats.
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

// repeats are the repeats of an atom, at most chunk each.
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

// begin notes where the next atom begins in what is written, since it may be repeated: a group where its parenthesis stands.
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
			r.group.holds(r.last)
		}
	default:
		r.last = repeated{r.out.Len(), 1, 1}
	}
}
