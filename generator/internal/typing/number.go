package typing

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// rat returns the exact value of a number in a schema, or nil after reporting that its exponent is too large.
func (r *reader) rat(v *schema.Node) *big.Rat {
	x := v.Rat()
	if x == nil && v.Kind == schema.Number {
		r.report.Report(v, "number-too-large", "exponents reach from -5000 to 5000", "%s is out of the range that is checked exactly", v.Text)
	}
	return x
}

// reportHugeNumbers reports the numbers in values whose exponents are too large to compare them exactly.
func (r *reader) reportHugeNumbers(values ...*schema.Node) {
	for _, v := range values {
		v.Walk(func(n *schema.Node) bool {
			if n.Kind == schema.Number {
				r.rat(n)
			}
			return true
		})
	}
}

// mostDigits is how many digits after the point Decimal writes out: people read the text.
const mostDigits = 20

// Decimal writes x as a JSON number, with an exponent where it would have many digits after the point. Every number read from JSON has a finite
// decimal expansion, and so has the LCM of two.
func Decimal(x *big.Rat) string {
	if x.IsInt() {
		return x.Num().String()
	}
	digits, ok := x.FloatPrec()
	if !ok {
		return x.RatString()
	}
	if digits > mostDigits {
		scaled := new(big.Rat).SetFrac(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil), big.NewInt(1))
		return scaled.Mul(scaled, x).Num().String() + "e-" + strconv.Itoa(digits)
	}
	return x.FloatString(digits)
}

// canonical returns a text that is the same for two values if and only if JSON Schema calls them equal.
func canonical(n *schema.Node) string {
	switch n.Kind {
	case schema.Number:
		if x := n.Rat(); x != nil {
			return x.RatString()
		}
		return n.Text
	case schema.Array:
		parts := make([]string, len(n.Items))
		for i, item := range n.Items {
			parts[i] = canonical(item)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case schema.Object:
		parts := make([]string, len(n.Members))
		for i := range n.Members {
			parts[i] = strconv.Quote(n.Members[i].Key) + ":" + canonical(n.Members[i].Value)
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case schema.String:
		return strconv.Quote(n.Text)
	default:
		return string(n.JSON())
	}
}

// compact writes a value as JSON without white space, with members sorted by key and numbers as they were written.
func compact(n *schema.Node) string {
	var b []byte
	switch n.Kind {
	case schema.Array:
		for i, item := range n.Items {
			b = append(b, ifFirst(i, '[', ','))
			b = append(b, compact(item)...)
		}
		if len(n.Items) == 0 {
			return "[]"
		}
		return string(append(b, ']'))
	case schema.Object:
		for i, m := range sorted(n.Members) {
			b = append(b, ifFirst(i, '{', ','))
			key := &schema.Node{Kind: schema.String, Text: m.Key}
			b = append(append(key.AppendJSON(b), ':'), compact(m.Value)...)
		}
		if len(n.Members) == 0 {
			return "{}"
		}
		return string(append(b, '}'))
	default:
		return string(n.JSON())
	}
}

func ifFirst(i int, first, later byte) byte {
	if i == 0 {
		return first
	}
	return later
}
