package subsume

import (
	"fmt"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/schema"
)

// site is a schema with the document in which its references are resolved.
type site struct {
	doc  *schema.Document
	node *schema.Node
}

func (s site) at(n *schema.Node) site          { return site{s.doc, n} }
func (s site) dialect() schema.Dialect         { return s.doc.Dialect }
func (s site) get(keyword string) *schema.Node { return s.node.Get(keyword) }

// literal says that a value satisfies a schema, or that it does not.
type literal struct {
	site
	holds bool
}

// goal is what one value has to meet.
type goal []literal

// answer says whether a value exists.
type answer uint8

const (
	none answer = iota
	some
	unsure
)

type outcome struct {
	answer answer
	value  *schema.Node // if some
}

// mostSteps bounds the choices that are followed and the keywords that are evaluated for one goal: that takes a few tenths of a second.
const mostSteps = 400_000

// solver is the state of a search.
type solver struct {
	depth int // the most goals within goals that are searched
	steps int
	why   string                   // the first reason why something is undecided
	same  map[[2]*schema.Node]bool // results of alike
	own   map[string]*schema.Node  // schemas that the solver makes, by their text
	size  map[*schema.Node]int     // sizes of values, in nodes
	held  map[[2]*schema.Node]bool // results of holds, by schema and value

	numbers map[*schema.Node]int // numbers of nodes, for key
	demands map[asked][]choice   // results of demandsOf

	known map[string]outcome // of goals, by key
	open  map[string]int     // goals for which a value is being searched, with their depth
	// assumed is the depth of the outermost open goal that came up again inside of itself since the innermost open goal was begun.
	assumed     int
	provisional map[string]int // goals that have no value if the open goal of that depth has none
	trail       []string       // the keys of provisional, in order
}

const nothingAssumed = 1 << 30

func newSolver(depth int) *solver {
	return &solver{depth: depth, size: map[*schema.Node]int{}, numbers: map[*schema.Node]int{}, demands: map[asked][]choice{}, same: map[[2]*schema.Node]bool{}, own: map[string]*schema.Node{}, held: map[[2]*schema.Node]bool{}, known: map[string]outcome{}, open: map[string]int{},
		assumed: nothingAssumed, provisional: map[string]int{}}
}

// undecided records why nothing is known.
func (s *solver) undecided(why string) outcome {
	if s.why == "" {
		s.why = why
	}
	return outcome{answer: unsure}
}

// spent adds the cost of a choice to the steps, and reports whether these are too many now.
func (s *solver) spent() bool { s.steps += 20; return s.steps > mostSteps }

// allow sets the steps so that so many are left.
func (s *solver) allow(steps int) { s.steps = mostSteps - steps }

// value looks for a value that meets g. A goal that comes up again inside of itself has no value there: the smallest value that
// meets the goal contains no other that does.
func (s *solver) value(g goal) outcome {
	key := s.key(g)
	if o, ok := s.known[key]; ok {
		return o
	}
	depth, ok := s.open[key]
	if !ok {
		depth, ok = s.provisional[key]
	}
	if ok {
		s.assumed = min(s.assumed, depth)
		return outcome{}
	}
	if s.spent() || len(s.open) > s.depth {
		return s.undecided(tooMany)
	}
	depth = len(s.open)
	before, mark := s.assumed, len(s.trail)
	s.open[key], s.assumed = depth, nothingAssumed
	o := s.anyKind(g)
	delete(s.open, key)
	s.keep(key, o, depth, mark)
	s.assumed = min(s.assumed, before)
	return o
}

const tooMany = "there are too many ways to meet both schemas"

// keep caches the outcome of a goal. That a goal has no value may depend on the assumption that an open goal further out has none: then the goal is
// provisional, with all provisional goals below it, until the outer goal is decided.
func (s *solver) keep(key string, o outcome, depth, mark int) {
	if s.assumed >= depth {
		s.assumed = nothingAssumed
	}
	if o.answer == none && s.assumed < nothingAssumed {
		s.provisional[key] = s.assumed
		s.trail = append(s.trail, key)
		return
	}
	s.known[key] = o
	for _, k := range s.trail[mark:] {
		delete(s.provisional, k)
		if o.answer == none {
			s.known[k] = o
		}
	}
	s.trail = s.trail[:mark]
}

// kinds are the JSON kinds, those with short witnesses first.
var kinds = []schema.Kind{schema.String, schema.Number, schema.Bool, schema.Object, schema.Array, schema.Null}

func (s *solver) anyKind(g goal) outcome {
	result := outcome{}
	for _, kind := range kinds {
		switch o := s.ofKind(kind, g); o.answer {
		case some:
			return o
		case unsure:
			result = o
		}
	}
	return result
}

// key is the same for goals with the same literals. Nodes are numbered in a map, which keeps them alive: the address of a node that is garbage could be
// used again for another one.
func (s *solver) key(g goal) string {
	s.steps += len(g)
	all := make([]int, len(g))
	for i, l := range g {
		n, known := s.numbers[l.node]
		if !known {
			n = 2 * len(s.numbers)
			s.numbers[l.node] = n
		}
		if all[i] = n; l.holds {
			all[i]++
		}
	}
	slices.Sort(all)
	return fmt.Sprint(slices.Compact(all))
}

// check returns v if it meets g. Every value that is found is checked here.
func (s *solver) check(g goal, v *schema.Node) outcome {
	for _, l := range g {
		switch held, err := s.holds(l.site, v); {
		case err != nil:
			return s.undecided(err.Error())
		case held != l.holds:
			return outcome{}
		}
	}
	if s.sizeOf(v) > mostNodes {
		return s.undecided("only large values tell the schemas apart")
	}
	return outcome{some, v}
}

// first returns the first of these values that meets g; no others are possible.
func (s *solver) first(g goal, all ...*schema.Node) outcome {
	result := outcome{}
	for _, v := range all {
		switch o := s.check(g, v); o.answer {
		case some:
			return o
		case unsure:
			result = o
		}
	}
	return result
}

// mostNodes is the largest size of a value that is shown. Parts of a value are shared, so it may be much larger than the steps that made it.
const mostNodes = 1_000

func (s *solver) sizeOf(v *schema.Node) int {
	n, known := s.size[v]
	if !known {
		n = 1
		for _, item := range v.Items {
			n = min(n+s.sizeOf(item), unbounded)
		}
		for _, m := range v.Members {
			n = min(n+s.sizeOf(m.Value), unbounded)
		}
		s.size[v] = n
	}
	return n
}

// follow returns the target of a reference.
func (s site) follow(ref *schema.Node) (site, bool) {
	target, d := s.doc.Resolve(ref.Text, ref)
	return s.at(target), d == nil
}

func text(s string) *schema.Node   { return &schema.Node{Kind: schema.String, Text: s} }
func number(s string) *schema.Node { return &schema.Node{Kind: schema.Number, Text: s} }

// constant is the literal that only v meets, and noneOf the one that all but the given values meet.
func (s *solver) constant(v *schema.Node) literal {
	return s.written("enum", &schema.Node{Kind: schema.Array, Items: []*schema.Node{v}}, true)
}

func (s *solver) noneOf(values []*schema.Node) literal {
	return s.written("enum", &schema.Node{Kind: schema.Array, Items: slices.Clone(values)}, false)
}

// ofKinds is the literal that only values of these kinds meet.
func (s *solver) ofKinds(all []schema.Kind) literal {
	names := &schema.Node{Kind: schema.Array}
	for _, k := range all {
		names.Items = append(names.Items, text(k.String()))
	}
	return s.written("type", names, true)
}

// written is the literal of a schema with one keyword, which the solver makes; the same text has the same node, so that goals with it have the same key.
func (s *solver) written(keyword string, value *schema.Node, holds bool) literal {
	key := keyword + string(value.JSON())
	n := s.own[key]
	if n == nil {
		n = &schema.Node{Kind: schema.Object, Members: []schema.Member{{Key: keyword, Value: value}}}
		s.own[key] = n
	}
	return literal{site{ownDocument(), n}, holds}
}

// ownDocument is the document of schemas that the solver writes.
var ownDocument = sync.OnceValue(func() *schema.Document {
	d, _ := schema.NewDocument(&schema.Node{Kind: schema.Object}, nil) // an empty schema has no errors
	return d
})
