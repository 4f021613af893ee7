package proof_test

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// mutant returns a copy of an instance with one to three small changes.
func mutant(r *rand.Rand, n *schema.Node) *schema.Node {
	for range 1 + r.IntN(3) {
		target := r.IntN(nodes(n))
		n = replace(n, &target, func(old *schema.Node) *schema.Node { return change(r, old) })
	}
	return n
}

func nodes(n *schema.Node) int {
	total := 0
	n.Walk(func(*schema.Node) bool { total++; return true })
	return total
}

// replace returns a copy of n in which the node that the walk reaches after skip others is replaced.
func replace(n *schema.Node, skip *int, by func(*schema.Node) *schema.Node) *schema.Node {
	if *skip == 0 {
		*skip--
		return by(n)
	}
	*skip--
	c := *n
	c.Items, c.Members = slices.Clone(n.Items), slices.Clone(n.Members)
	for i := range c.Items {
		if *skip >= 0 {
			c.Items[i] = replace(c.Items[i], skip, by)
		}
	}
	for i := range c.Members {
		if *skip >= 0 {
			c.Members[i].Value = replace(c.Members[i].Value, skip, by)
		}
	}
	return &c
}

// change returns what stands in n's place: something else entirely, or n with a slip.
func change(r *rand.Rand, n *schema.Node) *schema.Node {
	if r.IntN(5) == 0 {
		return anything(r)
	}
	c := *n
	switch n.Kind {
	case schema.String:
		c.Text = changedText(r, n.Text)
	case schema.Number:
		c.Text = changedNumber(r, n)
	case schema.Bool:
		c.Text = map[string]string{"true": "false", "false": "true"}[n.Text]
	case schema.Array:
		c.Items = changedItems(r, n.Items)
	case schema.Object:
		c.Members = changedMembers(r, n.Members)
	default:
		return anything(r)
	}
	return &c
}

func anything(r *rand.Rand) *schema.Node {
	switch r.IntN(7) {
	case 0:
		return &schema.Node{Kind: schema.Array}
	case 1:
		return &schema.Node{Kind: schema.Object}
	case 2:
		return text(pick(r, words...))
	case 3:
		return number(pick(r, "0", "-0", "1", "1.0", "1e0", "10E-1", "1.5", "1e400", "-1e-400", "9007199254740993", "9223372036854775807",
			"9223372036854775808", "-9223372036854775808", "-9223372036854775809", "123456789012345678901234567890", "1e20", "0.1"))
	case 4:
		return &schema.Node{Kind: schema.Bool, Text: pick(r, "true", "false")}
	case 5:
		return &schema.Node{Kind: schema.Array, Items: []*schema.Node{{}, number("1"), number("1.0")}}
	default:
		return &schema.Node{}
	}
}

func changedText(r *rand.Rand, s string) string {
	runes := []rune(s)
	switch r.IntN(4) {
	case 0:
		return s + pick(r, "a", "é", "😀", " ", "\n", "0")
	case 1:
		return string(runes[:max(0, len(runes)-1)])
	case 2:
		return strings.ToUpper(s)
	default:
		return pick(r, words...)
	}
}

// changedNumber writes the same value in another way, or one that is a step away.
func changedNumber(r *rand.Rand, n *schema.Node) string {
	plain := !strings.ContainsAny(n.Text, ".eE")
	switch i := r.IntN(6); {
	case i == 0 && plain && strings.Trim(n.Text, "-0") != "":
		return n.Text + pick(r, ".0", "e0", ".000", "E+0", "00e-2")
	case i == 1:
		return pick(r, "1e19", "-1e19", "1e308", "1e-9", "0.30000000000000004")
	case i == 2:
		return literal(plus(rat(n), rat(number("0.5"))))
	case i < 5:
		return literal(plus(rat(n), rat(number(pick(r, "1", "-1")))))
	default:
		return literal(plus(rat(n), rat(number("0.000001"))))
	}
}

func changedItems(r *rand.Rand, items []*schema.Node) []*schema.Node {
	if len(items) == 0 || r.IntN(3) == 0 {
		return append(slices.Clone(items), anything(r))
	}
	i := r.IntN(len(items))
	if r.IntN(2) == 0 {
		return slices.Delete(slices.Clone(items), i, i+1)
	}
	return append(slices.Clone(items), items[i])
}

// changedMembers adds, drops, renames or moves one; keys stay unique, because repeated ones are refused (VAL07) where
// the reference validator sees the last.
func changedMembers(r *rand.Rand, members []schema.Member) []schema.Member {
	members = slices.Clone(members)
	fresh := pick(r, propertyNames...)
	taken := slices.ContainsFunc(members, func(m schema.Member) bool { return m.Key == fresh })
	if len(members) == 0 || r.IntN(3) == 0 {
		if !taken {
			members = append(members, schema.Member{Key: fresh, Value: anything(r)})
		}
		return members
	}
	i := r.IntN(len(members))
	switch r.IntN(4) {
	case 0:
		return slices.Delete(members, i, i+1)
	case 1:
		if !taken {
			members[i].Key = fresh
		}
	case 2:
		j := r.IntN(len(members))
		members[i], members[j] = members[j], members[i]
	default:
		members[i].Value = &schema.Node{}
	}
	return members
}
