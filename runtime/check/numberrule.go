package check

import (
	"slices"
	"strconv"
)

// at returns the At of r, "" without a rule.
func (r *Number) at() string {
	if r == nil {
		return ""
	}
	return r.At
}

// at returns the At of r, "" without a rule.
func (r *Int) at() string {
	if r == nil {
		return ""
	}
	return r.At
}

// surelyAllows reports whether r has nothing but bounds and v lies strictly within them; else checkNumber decides.
func (r *Number) surelyAllows(v float64) bool {
	return r.MultipleOf == "" && !r.Integer && r.Enum == nil && r.MinText == "" && r.MaxText == "" &&
		(r.Has&(Minimum|ExclusiveMinimum) == 0 || v > r.Min) && (r.Has&(Maximum|ExclusiveMaximum) == 0 || v < r.Max)
}

// checkNumber reports every constraint of r that the number n, which v is as a float64, breaks. Floats are compared first: rounding preserves order,
// so only equal floats need the exact decimals.
func (d *Decoder) checkNumber(r *Number, n digits, v float64) {
	if r.Has&(Minimum|ExclusiveMinimum) != 0 {
		c := d.compare(n, v, r.Min, r.MinText)
		if c < 0 || c == 0 && r.Has&ExclusiveMinimum != 0 {
			d.belowMin(r.Has, int(n.start), r.At, boundText(r.Min, r.MinText))
		}
	}
	if r.Has&(Maximum|ExclusiveMaximum) != 0 {
		c := d.compare(n, v, r.Max, r.MaxText)
		if c > 0 || c == 0 && r.Has&ExclusiveMaximum != 0 {
			d.aboveMax(r.Has, int(n.start), r.At, boundText(r.Max, r.MaxText))
		}
	}
	if r.Integer && !n.plain && !d.multiple(n, "1") {
		d.violated(int(n.start), r.At, "type", "an integer")
	}
	if r.MultipleOf != "" && !d.multiple(n, r.MultipleOf) {
		d.violated(int(n.start), r.At, "multipleOf", "a multiple of "+r.MultipleOf)
	}
	if r.Enum != nil && !d.oneOfNumbers(n, r) && !d.countUndescribed() {
		allowed := join(len(r.Enum), ", ", func(i int) string { return r.Enum[i] })
		d.violated(int(n.start), r.At, enumOrConst(r.Const), allowed+d.orNull(int(n.start)))
	}
}

func (d *Decoder) checkInt(r *Int, v int64, start int) {
	if r.Has&(Minimum|ExclusiveMinimum) != 0 && (v < r.Min || v == r.Min && r.Has&ExclusiveMinimum != 0) {
		d.belowMin(r.Has, start, r.At, strconv.FormatInt(r.Min, 10))
	}
	if r.Has&(Maximum|ExclusiveMaximum) != 0 && (v > r.Max || v == r.Max && r.Has&ExclusiveMaximum != 0) {
		d.aboveMax(r.Has, start, r.At, strconv.FormatInt(r.Max, 10))
	}
	if r.MultipleOf != 0 && v%r.MultipleOf != 0 && !d.countUndescribed() {
		d.violated(start, r.At, "multipleOf", "a multiple of "+strconv.FormatInt(r.MultipleOf, 10))
	}
	if r.Enum == nil {
		return
	}
	if !r.lists(v) && !d.countUndescribed() {
		d.violated(start, r.At, enumOrConst(r.Const), r.allowed()+d.orNull(start))
	}
}

// checkHugeInt is checkInt for an integer beyond int64, and reports whether r allows it.
func (d *Decoder) checkHugeInt(r *Int, n digits) bool {
	start, before := int(n.start), d.broken
	switch {
	case r == nil:
	case n.negative && r.Has&(Minimum|ExclusiveMinimum) != 0:
		d.belowMin(r.Has, start, r.At, strconv.FormatInt(r.Min, 10))
	case !n.negative && r.Has&(Maximum|ExclusiveMaximum) != 0:
		d.aboveMax(r.Has, start, r.At, strconv.FormatInt(r.Max, 10))
	case r.MultipleOf != 0 && !d.multiple(n, strconv.FormatInt(r.MultipleOf, 10)):
		d.violated(start, r.At, "multipleOf", "a multiple of "+strconv.FormatInt(r.MultipleOf, 10))
	case r.Enum != nil:
		d.violated(start, r.At, enumOrConst(r.Const), r.allowed()+d.orNull(start))
	}
	return d.err == nil && d.broken == before
}

// outOfRange reports a value that its schema allows and its Go type can not hold. That is a violation where the value is kept.
// A form on trial fits all the same, because only the schema decides which form fits.
func (d *Decoder) outOfRange(start int, at, allowed string) {
	if d.quiet || d.counting {
		d.overflow = true
		return
	}
	d.violated(start, at, "type", allowed+d.orNull(start))
}

func (d *Decoder) belowMin(has Has, start int, at, limit string) {
	if has&ExclusiveMinimum != 0 {
		d.violated(start, at, "exclusiveMinimum", "greater than "+limit)
		return
	}
	d.violated(start, at, "minimum", "at least "+limit)
}

func (d *Decoder) aboveMax(has Has, start int, at, limit string) {
	if has&ExclusiveMaximum != 0 {
		d.violated(start, at, "exclusiveMaximum", "less than "+limit)
		return
	}
	d.violated(start, at, "maximum", "at most "+limit)
}

func boundText(f float64, literal string) string {
	if literal != "" {
		return literal
	}
	return string(appendFloat(nil, f))
}

// compare returns -1, 0 or 1 if the number n, which v is as a float64, is less than, equal to or greater than a bound: literal, or limit if literal is "".
func (d *Decoder) compare(n digits, v, limit float64, literal string) int {
	switch {
	case literal != "": // limit may be anything: the literal may lie outside float64
	case v < limit:
		return -1
	case v > limit:
		return 1
	case n.hasExactFactors() && n.mantissa < 1e15:
		return 0 // two decimals of at most 15 digits with the same float64 are the same
	}
	x, ok := d.decimal(n)
	if !ok {
		return 0
	}
	if literal == "" {
		literal = strconv.FormatFloat(limit, 'g', -1, 64)
	}
	y, _ := parseDecimal([]byte(literal))
	return x.compare(y)
}

func (d *Decoder) oneOfNumbers(n digits, r *Number) bool {
	x, ok := d.decimal(n)
	if !ok {
		return true
	}
	var room [64]byte
	_, ok = r.enumIndex()[string(x.appendTo(room[:0]))]
	return ok
}

// enumIndex maps the canonical decimals of Enum to their indexes.
func (r *Number) enumIndex() map[string]int {
	if m := r.index.made.Load(); m != nil {
		return *m
	}
	all := make([]string, len(r.Enum))
	for i, e := range r.Enum {
		x, _ := parseDecimal([]byte(e))
		all[i] = string(x.appendTo(nil))
	}
	return r.index.make(all)
}

// lists reports whether v is one of Enum.
func (r *Int) lists(v int64) bool {
	if len(r.Enum) <= fewValues {
		return slices.Contains(r.Enum, v)
	}
	_, ok := r.index.of(r.Enum)[v]
	return ok
}

// allowed names the values of Enum.
func (r *Int) allowed() string {
	return join(len(r.Enum), ", ", func(i int) string { return strconv.FormatInt(r.Enum[i], 10) })
}
