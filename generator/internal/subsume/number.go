package subsume

import (
	"math/big"
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
)

// numbers is what is known of a number.
type numbers struct {
	low, high *bound
	multiple  *big.Rat   // the number is a multiple of this
	not       []*big.Rat // and not a multiple of any of these
}

// bound is an end of a range; the value belongs to the range unless it is open.
type bound struct {
	value *big.Rat
	open  bool
}

var one = big.NewRat(1, 1)

// bound demands an upper or lower bound of the range; negated, that the number is beyond that bound.
func (a atom) bound(upper, open bool) choice {
	x := a.value.Rat()
	if x == nil {
		return note(func(f *facts) { f.obstacle = "a number that can not be computed with" })
	}
	b := &bound{x, open}
	if !a.holds {
		b, upper = &bound{x, !open}, !upper
	}
	return note(func(f *facts) {
		if upper && b.tighter(f.number.high, -1) {
			f.number.high = b
		} else if !upper && b.tighter(f.number.low, +1) {
			f.number.low = b
		}
	})
}

// tighter reports whether b restricts a range more than c, which may be nil; side is +1 for a lower bound, -1 for an upper one.
func (b *bound) tighter(c *bound, side int) bool {
	if c == nil {
		return true
	}
	order := b.value.Cmp(c.value)
	return order == side || order == 0 && b.open
}

func (a atom) multiple(x *big.Rat) choice {
	switch {
	case x == nil:
		return note(func(f *facts) { f.obstacle = "a number that can not be computed with" })
	case a.holds:
		return note(func(f *facts) { f.number.multiple = typing.LCM(f.number.multiple, x) })
	}
	return note(func(f *facts) { f.number.not = append(slices.Clip(f.number.not), x) })
}

// empty reports whether it is plain that no number fits.
func (n *numbers) empty() bool {
	if n.low != nil && n.high != nil {
		if order := n.low.value.Cmp(n.high.value); order > 0 || order == 0 && (n.low.open || n.high.open) {
			return true
		}
	}
	for _, x := range n.not {
		if n.multiple != nil && new(big.Rat).Quo(n.multiple, x).IsInt() {
			return true
		}
	}
	return false
}

// within reports whether x is in the range.
func (n *numbers) within(x *big.Rat) bool {
	return (n.low == nil || x.Cmp(n.low.value) > 0 || !n.low.open && x.Cmp(n.low.value) == 0) &&
		(n.high == nil || x.Cmp(n.high.value) < 0 || !n.high.open && x.Cmp(n.high.value) == 0)
}

// mostPoints is how many numbers are tried.
const mostPoints = 400

// number tries the multiples in the range, or without a multiple some numbers of it. If the range has few multiples, all are tried.
func (s *solver) number(b branch) outcome {
	n := &b.number
	points, all := n.points()
	var values []*schema.Node
	for _, x := range points {
		if _, finite := x.FloatPrec(); finite { // JSON can not write others
			values = append(values, number(typing.Decimal(x)))
		}
	}
	if o := s.first(b.goal, values...); o.answer == some || o.answer == none && all && b.obstacle == "" {
		return o
	}
	return s.undecided(b.because("numbers of a narrow range"))
}

// points returns numbers to try, and whether these are all that fit.
func (n *numbers) points() (points []*big.Rat, all bool) {
	if n.low != nil && n.high != nil && n.low.value.Cmp(n.high.value) == 0 {
		return []*big.Rat{n.low.value}, true
	}
	step := n.multiple
	if step == nil {
		return n.between(), false
	}
	add := func(x *big.Rat, by *big.Rat) (ended bool) {
		for range mostPoints {
			if !n.within(x) {
				return true
			}
			points = append(points, x)
			x = new(big.Rat).Add(x, by)
		}
		return false
	}
	switch {
	case n.low != nil:
		all = add(ceiling(n.low, step), step)
	case n.high != nil:
		add(new(big.Rat).Neg(ceiling(&bound{new(big.Rat).Neg(n.high.value), n.high.open}, step)), new(big.Rat).Neg(step))
	default:
		add(new(big.Rat), step)
	}
	return points, all
}

// ceiling returns the smallest multiple of step at or above b.
func ceiling(b *bound, step *big.Rat) *big.Rat {
	q := new(big.Rat).Quo(b.value, step)
	whole := new(big.Int).Div(q.Num(), q.Denom()) // rounds down, as the divisor is positive
	x := new(big.Rat).Mul(new(big.Rat).SetInt(whole), step)
	for x.Cmp(b.value) < 0 || b.open && x.Cmp(b.value) == 0 {
		x.Add(x, step)
	}
	return x
}

// between returns 0, 1 and -1, the ends of the range, numbers in the range with few digits, and some with many.
func (n *numbers) between() (points []*big.Rat) {
	low, high := new(big.Rat), new(big.Rat)
	switch {
	case n.low == nil && n.high == nil:
		low.SetInt64(-10)
		high.SetInt64(10)
	case n.low == nil:
		low.Sub(n.high.value, big.NewRat(20, 1))
		high = n.high.value
	case n.high == nil:
		low = n.low.value
		high.Add(low, big.NewRat(20, 1))
	default:
		low, high = n.low.value, n.high.value
	}
	width := new(big.Rat).Sub(high, low)
	tenth := big.NewRat(1, 10)
	step := new(big.Rat).Set(one)
	for new(big.Rat).Quo(width, step).Cmp(big.NewRat(10, 1)) < 0 {
		step.Mul(step, tenth)
	}
	fine := new(big.Rat).Mul(step, big.NewRat(137, 1000000)) // hardly a multiple of anything
	x := ceiling(&bound{low, false}, step)
	points = append(points, new(big.Rat), one, big.NewRat(-1, 1), low, high)
	var between []*big.Rat
	for range mostPoints / 2 {
		points = append(points, x)
		between = append(between, new(big.Rat).Add(x, new(big.Rat).Quo(step, big.NewRat(2, 1))), new(big.Rat).Add(x, fine))
		x = new(big.Rat).Add(x, step)
	}
	points = append(points, between...)
	return points
}
