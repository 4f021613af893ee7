package pattern

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

const (
	re2Repeats   = 1000    // is the most that RE2 takes
	mostRepeats  = 10_000  // that are rewritten: matching costs as much as the repeats for each character
	mostRepeated = 1 << 18 // bytes that rewriting them may make
)

// counts matches what repeats the atom before it.
var counts = regexp.MustCompile(`^\{([0-9]{1,9})(,([0-9]{0,9}))?\}`)

// manyRepeats finds what may be beyond re2Repeats.
var manyRepeats = regexp.MustCompile(`[{,][0-9]{4,9}[,}]`)

var (
	errRepeats  = errors.New("invalid repeat count: more than " + strconv.Itoa(mostRepeats) + " repeats")
	errRepeated = errors.New("invalid repeat count: the repeats within repeats are too many")
)

// repeat rewrites an atom's repeats that are more than RE2 takes, a{3,2500}, as several in a row: a{3}a{0,1000}a{0,1000}a{0,497}.
// It reports whether there are any here.
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
	if max(low, high) <= re2Repeats || high < low {
		return false
	}
	r.at += len(m[0])
	if max(low, high) > mostRepeats {
		r.err = errRepeats
		return true
	}
	r.inRow(r.out.String()[r.atom:], repeats(low, high, endless))
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

func repeats(low, high int, endless bool) []string {
	var all []string
	for n := low; n > 0; n -= re2Repeats {
		all = append(all, "{"+strconv.Itoa(min(n, re2Repeats))+"}")
	}
	for n := high - low; n > 0; n -= re2Repeats {
		all = append(all, "{0,"+strconv.Itoa(min(n, re2Repeats))+"}")
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
		r.groups = append(r.groups, r.out.Len())
		r.atom = r.out.Len()
	case ')':
		if n := len(r.groups); n > 0 {
			r.atom, r.groups = r.groups[n-1], r.groups[:n-1]
		}
	default:
		r.atom = r.out.Len()
	}
}
