package uritemplate

import "strings"

// Overlap reports whether both templates match some URI, and returns one. Variables count as any text that they can be, whatever their
// schemas say.
func Overlap(a, b *Template) (uri string, overlap bool) {
	return meet(steps(a), steps(b))
}

// step is what one position of a URI may be: bytes of a set, and again as often as one likes.
type step struct {
	set   [256]bool
	again bool
}

// automaton matches as its template does: step i leads from state i to i+1, and the ends are states where a URI may be over.
type automaton struct {
	steps []step
	ends  map[int]bool
}

func steps(t *Template) automaton {
	var m automaton
	query := t.query < len(t.vars)
	for _, p := range t.parts {
		if p.text == "" {
			m.steps = append(m.steps, variableStep(t.vars[p.v], query))
		}
		for i := range len(p.text) {
			m.steps = append(m.steps, one(p.text[i]))
		}
	}
	m.ends = map[int]bool{len(m.steps): true}
	if query {
		m.steps = append(m.steps, one('?'), variableStep(Variable{Reserved: true}, false))
		m.ends[len(m.steps)-1], m.ends[len(m.steps)] = true, true
	}
	return m
}

func one(c byte) (s step) {
	s.set[c] = true
	return s
}

func variableStep(v Variable, query bool) step {
	s := step{again: true}
	for c := range s.set {
		is := strings.IndexByte(reserved, byte(c)) >= 0
		s.set[c] = c > ' ' && c < 0x7f && (v.Reserved || !is) && !(query && c == '?')
	}
	return s
}

// next are the states that c leads to.
func (m *automaton) next(state int, c byte) (to []int) {
	if state < len(m.steps) && m.steps[state].set[c] {
		to = append(to, state+1)
	}
	if state > 0 && m.steps[state-1].again && m.steps[state-1].set[c] {
		to = append(to, state)
	}
	return to
}

// letters are the bytes of a URI, those first that read well in an example.
var letters = func() (all []byte) {
	for c := byte('a'); c <= 'z'; c++ {
		all = append(all, c)
	}
	for c := byte('!'); c < 0x7f; c++ {
		if c < 'a' || c > 'z' {
			all = append(all, c)
		}
	}
	return all
}()

// meet looks for the shortest text that both match.
func meet(a, b automaton) (text string, found bool) {
	type pair struct{ a, b int }
	type place struct {
		at   pair
		text string
	}
	seen := map[pair]bool{{}: true}
	for queue := []place{{}}; len(queue) > 0; queue = queue[1:] {
		at, text := queue[0].at, queue[0].text
		if a.ends[at.a] && b.ends[at.b] {
			return text, true
		}
		for _, c := range letters {
			for _, x := range a.next(at.a, c) {
				for _, y := range b.next(at.b, c) {
					if to := (pair{x, y}); !seen[to] {
						seen[to] = true
						queue = append(queue, place{to, text + string(c)})
					}
				}
			}
		}
	}
	return "", false
}
