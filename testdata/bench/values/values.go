// Package values makes inputs of no one type, for the benchmarks of forms.
package values

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// text is n bytes of words, some of them in quotes.
func text(r *rand.Rand, n int) string {
	words := []string{"report ", "of ", "the ", "quarter: ", "orders ", "grew ", "by ", "12.5 ", "percent\n", "\"pending\" ", "in ", "all ", "regions, "}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()[:n]
}

// Each is an object with a list of values, in one member.
func Each(member string, value func(r *rand.Rand) any) func(r *rand.Rand) any {
	return func(r *rand.Rand) any {
		var list []any
		for range 40 {
			list = append(list, value(r))
		}
		return map[string]any{member: list}
	}
}

func sentence(r *rand.Rand) string { return text(r, 8+r.IntN(50)) }

func word(r *rand.Rand) string { return strings.TrimSpace(text(r, 3+r.IntN(9))) }

// Document is an object of any members, with others in it.
func Document(r *rand.Rand) any {
	var value func(depth int) any
	value = func(depth int) any {
		switch n := r.IntN(8); {
		case n < 3 || depth == 0:
			return sentence(r)
		case n < 5:
			return r.IntN(1_000_000)
		case n == 5:
			return r.IntN(2) == 0
		case n == 6:
			return []any{value(depth - 1), value(depth - 1), value(depth - 1)}
		}
		members := map[string]any{}
		for i := range 4 {
			members[fmt.Sprintf("%s%d", word(r), i)] = value(depth - 1)
		}
		return members
	}
	members := map[string]any{}
	for i := range 40 {
		members[fmt.Sprintf("member_%d", i)] = value(2)
	}
	return map[string]any{"document": members}
}

// OfKinds is a text, a number, a boolean or a list.
func OfKinds(r *rand.Rand) any {
	switch r.IntN(4) {
	case 0:
		return sentence(r)
	case 1:
		return r.IntN(1_000_000)
	case 2:
		return r.IntN(2) == 0
	}
	return []string{word(r), word(r)}
}

// Shape is one of three that a tag tells apart.
func Shape(r *rand.Rand) any {
	switch r.IntN(3) {
	case 0:
		return map[string]any{"kind": "circle", "radius": float64(r.IntN(1000)) / 4}
	case 1:
		return map[string]any{"kind": "rectangle", "width": r.IntN(100), "height": float64(r.IntN(1000)) / 4}
	}
	return map[string]any{"kind": "label", "text": sentence(r)}
}

// Source is one of three that a member tells apart.
func Source(r *rand.Rand) any {
	m := map[string]any{[]string{"url", "path", "inline"}[r.IntN(3)]: sentence(r)}
	if r.IntN(2) == 0 {
		m["note"] = sentence(r)
	}
	return m
}

// Reading is one of two with the same members.
func Reading(r *rand.Rand) any {
	if r.IntN(2) == 0 {
		return map[string]any{"sensor": []string{"north", "south", "cellar"}[r.IntN(3)], "value": float64(r.IntN(10_000)) / 8}
	}
	return map[string]any{"sensor": fmt.Sprint(r.IntN(10_000)), "value": word(r)}
}
