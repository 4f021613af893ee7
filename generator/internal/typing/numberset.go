package typing

import (
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// numberSet describes the numbers that a shape allows, itself and by the branches of its groups.
type numberSet struct {
	listed      []*big.Rat // all of them, if an enum or the constants of all branches of a group list them; nil: others are allowed, too
	integers    bool       // all of them are integers
	exact       bool       // they need an exact Go type, because float64 would round numbers of a branch (roundsBranch)
	beyondInt64 bool       // the shape names an integer outside of int64
}

// numberSet returns the set of the numbers that s allows. It looks depth levels deep into groups within groups.
func (l *lowering) numberSet(s *shape, depth int) numberSet {
	n := numberSet{integers: s.integer}
	if s.enum != nil {
		n.listed = rats(s.enum.values)
		n.integers = s.integer || !slices.ContainsFunc(n.listed, func(x *big.Rat) bool { return !x.IsInt() })
	}
	for _, g := range s.groups {
		if depth == 0 {
			break
		}
		ofBranches := l.numberSetOfBranches(s, g, depth-1)
		if s.enum == nil && n.listed == nil {
			n.listed = ofBranches.listed
		}
		n.integers = n.integers || s.enum == nil && ofBranches.integers
		n.exact = n.exact || ofBranches.exact
		n.beyondInt64 = n.beyondInt64 || !s.integer && ofBranches.beyondInt64
	}
	n.beyondInt64 = n.beyondInt64 || s.num.beyondInt64() || slices.ContainsFunc(n.listed, beyondInt64)
	return n
}

// numberSetOfBranches is the numberSet of all branches of a group of s. Where one branch allows every number, the others need not be exact.
func (l *lowering) numberSetOfBranches(s *shape, g group, depth int) numberSet {
	all, listed, anyNumber := numberSet{integers: true}, true, false
	for _, branch := range l.shapes(g) {
		if branch.kinds&model.KindNumber == 0 {
			continue
		}
		n := l.numberSet(branch, depth)
		listed = listed && n.listed != nil
		all.listed = append(all.listed, n.listed...)
		all.integers = all.integers && n.integers
		all.exact = all.exact || roundsBranch(s, branch, n)
		all.beyondInt64 = all.beyondInt64 || n.beyondInt64 || branch.goType == "json.Number"
		anyNumber = anyNumber || !branch.integer && branch.enum == nil && branch.num.at == nil && branch.groups == nil && branch.goType == ""
	}
	if !listed {
		all.listed = nil
	}
	all.exact = all.exact && !anyNumber
	return all
}

// roundsBranch reports whether float64 would round numbers of a branch of a group of s. n describes them.
func roundsBranch(s, branch *shape, n numberSet) bool {
	switch {
	case branch.enum != nil:
		return slices.ContainsFunc(n.listed, roundedByFloat64)
	case branch.goType == "json.Number", n.exact:
		return true
	}
	return branch.integer && !(withinFloat64(higher(s.num.min, branch.num.min)) && withinFloat64(lower(s.num.max, branch.num.max)))
}

// withinFloat64 reports whether b is a bound, and every integer up to it is exact as a float64.
func withinFloat64(b *bound) bool {
	return b != nil && new(big.Rat).Abs(b.value).Cmp(new(big.Rat).SetInt64(1<<53)) <= 0
}

// roundedByFloat64 reports whether reading x into a float64 and writing it gives another number (VAL12).
func roundedByFloat64(x *big.Rat) bool {
	if x.IsInt() && x.Num().BitLen() <= 53 {
		return false // nearly all numbers, much faster
	}
	f, _ := x.Float64()
	written, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64)) // 2^60 is exact, and written with fewer digits
	return !ok || written.Cmp(x) != 0
}

// beyondInt64 reports whether a bound or multipleOf is outside of int64.
func (f *numberFacet) beyondInt64() bool {
	return f.min != nil && beyondInt64(f.min.value) || f.max != nil && beyondInt64(f.max.value) || f.multiple != nil && beyondInt64(f.multiple)
}

func beyondInt64(x *big.Rat) bool {
	if x.IsInt() {
		return !x.Num().IsInt64()
	}
	return x.Cmp(new(big.Rat).SetInt64(math.MinInt64)) < 0 || x.Cmp(new(big.Rat).SetInt64(math.MaxInt64)) > 0
}

// rats returns the numbers among values.
func rats(values []*schema.Node) (all []*big.Rat) {
	for _, v := range values {
		if x := v.Rat(); x != nil {
			all = append(all, x)
		}
	}
	return all
}
