package proof_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
)

// sameFloat reports whether two literals are the same float64.
func sameFloat(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

// Making findings small takes a compilation a round.
const (
	mostShrunk     = 2 // findings of a test
	mostRounds     = 12
	mostCandidates = 60 // schemas of a round
)

// shrink reports a disagreement after making schema and instance as small as one step at a time can.
func (e *experiment) shrink(t *testing.T, root, instance *schema.Node, keep bool, what string) {
	t.Helper()
	if e.shrunk++; e.shrunk <= mostShrunk {
		for range mostRounds {
			r, i, w := smaller(t, e.dialect, root, instance, keep)
			if r == nil {
				break
			}
			root, instance, what = r, i, w
		}
	}
	t.Error(finding(root, instance, keep, what))
}

// smaller compiles everything that is one step smaller at once, and returns the smallest that still shows a disagreement.
func smaller(t *testing.T, dialect schema.Dialect, root, instance *schema.Node, keep bool) (r, i *schema.Node, what string) {
	t.Helper()
	e := &experiment{dialect: dialect}
	instances := append(steps(instance), instance)
	for _, candidate := range append(sample(steps(root)), root) {
		s, _ := e.admit(t, candidate.JSON(), keep)
		for _, n := range instances {
			if s != nil && (candidate != root || n != instance) {
				e.put(s, n)
			}
		}
	}
	if e.questions == nil {
		return nil, nil, ""
	}
	best := 0
	for k, a := range ask(t, build(t, &e.batch), e.questions) {
		if a.Dropped {
			continue
		}
		w := compare(e.of[k], e.instances[k], a)
		size := len(e.of[k].doc.Root.JSON()) + len(e.questions[k].Instance)
		if w != "" && (r == nil || size < best) {
			r, i, what, best = e.of[k].doc.Root, e.instances[k], w, size
		}
	}
	return r, i, what
}

// sample returns mostCandidates of all: small ones, large ones, and some between.
func sample(all []*schema.Node) []*schema.Node {
	slices.SortFunc(all, func(a, b *schema.Node) int { return len(a.JSON()) - len(b.JSON()) })
	if len(all) <= mostCandidates {
		return all
	}
	var some []*schema.Node
	for i := range mostCandidates {
		some = append(some, all[i*len(all)/mostCandidates])
	}
	return some
}

// steps returns copies of n with one member or item less, or with one child in its parent's place.
func steps(n *schema.Node) []*schema.Node {
	var all []*schema.Node
	for i := range n.Members {
		c := *n
		c.Members = slices.Delete(slices.Clone(n.Members), i, i+1)
		all = append(all, &c)
		for _, child := range steps(n.Members[i].Value) {
			c := *n
			c.Members = slices.Clone(n.Members)
			c.Members[i].Value = child
			all = append(all, &c)
		}
		if v := n.Members[i].Value; v.Kind == schema.Object {
			all = append(all, v)
		}
	}
	for i := range n.Items {
		c := *n
		c.Items = slices.Delete(slices.Clone(n.Items), i, i+1)
		all = append(all, &c, n.Items[i])
		for _, child := range steps(n.Items[i]) {
			c := *n
			c.Items = slices.Clone(n.Items)
			c.Items[i] = child
			all = append(all, &c)
		}
	}
	return all
}
