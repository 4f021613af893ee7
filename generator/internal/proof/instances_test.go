package proof_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// filler makes instances of a schema. They are meant to be valid and often are; the reference validator says which.
type filler struct {
	*rand.Rand
	doc *schema.Document
}

func (f *filler) chance(n int) bool { return f.IntN(n) == 0 }

// facets are the schemas that one value has to satisfy at once, with references and applicators taken apart.
type facets []*schema.Node

// gather adds n and what it brings along: references, allOf, one branch of each union, then and else.
func (f *filler) gather(all facets, n *schema.Node, depth int) facets {
	if n == nil || depth == 0 {
		return all
	}
	all = append(all, n)
	for i := range n.Members {
		v := n.Members[i].Value
		switch n.Members[i].Key {
		case "$ref", "$dynamicRef":
			target, _ := f.doc.Resolve(v.Text, v)
			all = f.gather(all, target, depth-1)
		case "allOf":
			for _, part := range v.Items {
				all = f.gather(all, part, depth-1)
			}
		case "anyOf", "oneOf":
			all = f.gather(all, pick(f.Rand, v.Items...), depth-1)
		case "if", "then":
			if f.chance(2) {
				all = f.gather(all, v, depth-1)
			}
		}
	}
	return all
}

// fill returns a value for the schemas of all, with at most depth levels below it.
func (f *filler) fill(all facets, depth int) *schema.Node {
	for _, n := range all {
		if c := n.Get("const"); c != nil {
			return c
		}
		if e := n.Get("enum"); e != nil && len(e.Items) > 0 {
			return pick(f.Rand, e.Items...)
		}
	}
	kind := f.kind(all)
	if depth < 0 && (depth < -2 || f.chance(2)) && (kind == "array" || kind == "object") {
		kind = "null" // a schema that requires itself has to end somewhere
	}
	switch kind {
	case "string":
		return text(f.text(all))
	case "integer", "number":
		return number(f.number(all, kind == "integer"))
	case "boolean":
		return &schema.Node{Kind: schema.Bool, Text: pick(f.Rand, "true", "false")}
	case "array":
		return f.array(all, depth)
	case "object":
		return f.object(all, depth)
	}
	return &schema.Node{}
}

func text(s string) *schema.Node   { return &schema.Node{Kind: schema.String, Text: s} }
func number(s string) *schema.Node { return &schema.Node{Kind: schema.Number, Text: s} }

var kinds = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// kind returns a type that all allow, if there is one; without any it goes by the keywords that are there.
func (f *filler) kind(all facets) string {
	left, said := kinds, false
	for _, n := range all {
		t := n.Get("type")
		if t == nil {
			continue
		}
		said = true
		left = slices.DeleteFunc(slices.Clone(left), func(kind string) bool {
			return !names(t, kind) && !(kind == "integer" && names(t, "number"))
		})
	}
	if !said && f.chance(2) {
		for _, keyword := range [][2]string{{"properties", "object"}, {"required", "object"}, {"additionalProperties", "object"}, {"items", "array"},
			{"prefixItems", "array"}, {"contains", "array"}, {"pattern", "string"}, {"minLength", "string"}, {"format", "string"}, {"minimum", "number"}} {
			if slices.ContainsFunc(all, func(n *schema.Node) bool { return n.Get(keyword[0]) != nil }) {
				return keyword[1]
			}
		}
	}
	if len(left) == 0 {
		left = kinds
	}
	return pick(f.Rand, left...)
}

func names(t *schema.Node, kind string) bool {
	return t.Text == kind || slices.ContainsFunc(t.Items, func(n *schema.Node) bool { return n.Text == kind })
}

// bounds returns the highest of low and the lowest of high, as small integers; high is -1 without any.
func bounds(all facets, low, high string) (int, int) {
	lowest, highest := 0, -1
	for _, n := range all {
		if v, ok := count(n.Get(low)); ok {
			lowest = max(lowest, v)
		}
		if v, ok := count(n.Get(high)); ok && (highest < 0 || v < highest) {
			highest = v
		}
	}
	return min(lowest, 8), min(highest, 8)
}

func count(n *schema.Node) (int, bool) {
	if n == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(n.Text, 64)
	return int(v), err == nil
}

var words = []string{"", "a", "b", "ab", "list", "é", "日本語", "😀", "a\u0301", "\u2028", "\x00", `"\/`, "null", "1", "open", "closed"}

func (f *filler) text(all facets) string {
	for _, n := range all {
		if p := n.Get("pattern"); p != nil && len(patterns[p.Text]) > 0 && !f.chance(6) {
			return pick(f.Rand, patterns[p.Text]...)
		}
		if format := n.Get("format"); format != nil && len(formatted[format.Text]) > 0 && !f.chance(6) {
			return pick(f.Rand, formatted[format.Text]...)
		}
	}
	low, high := bounds(all, "minLength", "maxLength")
	s := []rune(pick(f.Rand, words...))
	for len(s) < low {
		s = append(s, pick(f.Rand, 'a', 'é', '😀'))
	}
	if high >= 0 && len(s) > high {
		s = s[:high]
	}
	return string(s)
}

// number returns the literal of a number at one of the bounds, or beside it.
func (f *filler) number(all facets, whole bool) string {
	candidates := []*big.Rat{big.NewRat(int64(f.IntN(7)-2), 1)}
	var low, high, multiple *big.Rat
	for _, n := range all {
		for _, b := range []struct {
			keyword string
			into    **big.Rat
		}{{"minimum", &low}, {"exclusiveMinimum", &low}, {"maximum", &high}, {"exclusiveMaximum", &high}, {"multipleOf", &multiple}} {
			if v := rat(n.Get(b.keyword)); v != nil {
				*b.into = v
			}
		}
	}
	half, one := big.NewRat(1, 2), big.NewRat(1, 1)
	if low != nil {
		candidates = []*big.Rat{low, plus(low, one), plus(low, half)}
	}
	if high != nil {
		candidates = append(candidates, high, new(big.Rat).Sub(high, one), new(big.Rat).Sub(high, half))
	}
	c := pick(f.Rand, candidates...)
	if multiple != nil && multiple.Sign() > 0 && !f.chance(4) {
		quotient := new(big.Rat).Quo(c, multiple)
		c = new(big.Rat).Mul(multiple, new(big.Rat).SetInt(new(big.Int).Quo(quotient.Num(), quotient.Denom())))
	}
	if whole && !c.IsInt() {
		c = new(big.Rat).SetInt(new(big.Int).Quo(c.Num(), c.Denom()))
	}
	return literal(c)
}

func plus(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }

func rat(n *schema.Node) *big.Rat {
	if !n.Is(schema.Number) {
		return nil
	}
	if r, ok := new(big.Rat).SetString(n.Text); ok {
		return r
	}
	return nil
}

// literal writes a number of few digits after the point.
func literal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimSuffix(strings.TrimRight(r.FloatString(6), "0"), ".")
}

func (f *filler) array(all facets, depth int) *schema.Node {
	low, high := bounds(all, "minItems", "maxItems")
	n := low + f.IntN(3)
	if high >= 0 {
		n = max(low, min(n, high))
	}
	if depth < 0 {
		n = low
	}
	a := &schema.Node{Kind: schema.Array}
	for i := range n {
		a.Items = append(a.Items, f.fill(f.item(all, i), depth-1))
	}
	return a
}

// item gathers the schemas of the item at i.
func (f *filler) item(all facets, i int) facets {
	var of facets
	for _, n := range all {
		rest := n.Get("items")
		for _, list := range []*schema.Node{n.Get("prefixItems"), rest} {
			if list.Is(schema.Array) {
				rest = n.Get("additionalItems")
				if list == n.Get("prefixItems") {
					rest = n.Get("items")
				}
				if i < len(list.Items) {
					rest = list.Items[i]
				}
			}
		}
		of = f.gather(of, rest, 6)
		if c := n.Get("contains"); c != nil && (i == 0 || f.chance(3)) {
			of = f.gather(of, c, 6)
		}
	}
	return of
}

func (f *filler) object(all facets, depth int) *schema.Node {
	o := &schema.Node{Kind: schema.Object}
	var wanted []string
	for _, n := range all {
		if r := n.Get("required"); r != nil {
			for _, name := range r.Items {
				wanted = append(wanted, name.Text)
			}
		}
		if p := n.Get("properties"); p != nil {
			for _, m := range p.Members {
				if depth >= 0 && f.chance(2) {
					wanted = append(wanted, m.Key)
				}
			}
		}
	}
	if f.chance(4) {
		wanted = append(wanted, pick(f.Rand, propertyNames...))
	}
	low, high := bounds(all, "minProperties", "maxProperties")
	for i := 0; len(wanted) < low; i++ {
		wanted = append(wanted, propertyNames[i]+strings.Repeat("a", i/3))
	}
	if high >= 0 && len(wanted) > high {
		wanted = wanted[:high]
	}
	f.Shuffle(len(wanted), func(i, j int) { wanted[i], wanted[j] = wanted[j], wanted[i] })
	for _, key := range wanted {
		if o.Get(key) == nil {
			o.Members = append(o.Members, schema.Member{Key: key, Value: f.fill(f.member(all, key), depth-1)})
		}
	}
	return o
}

// member gathers the schemas of a property.
func (f *filler) member(all facets, key string) facets {
	var of facets
	for _, n := range all {
		if p := n.Get("properties").Get(key); p != nil {
			of = f.gather(of, p, 6)
			continue
		}
		of = f.gather(of, n.Get("additionalProperties"), 6)
		of = f.gather(of, n.Get("unevaluatedProperties"), 6)
	}
	return of
}
