package paramheader

import (
	"encoding/json"
	"math/big"
	"slices"
)

// Exact reports whether float64 represents exactly all integers that a property's schema allows. Other schemas are refused, since a
// client in JavaScript could write another number into the header than into the body. Properties of other types are exact.
func Exact(property json.RawMessage) bool {
	n := members(property)
	if text(n["type"]) != "integer" {
		return true
	}
	values := []json.RawMessage{n["const"]}
	switch {
	case n["const"] != nil:
	case n["enum"] != nil:
		values = nil
		_ = json.Unmarshal(n["enum"], &values)
	default:
		hasMin := within(n["minimum"], maxSafe) || within(n["exclusiveMinimum"], maxSafe+1)
		hasMax := within(n["maximum"], maxSafe) || within(n["exclusiveMaximum"], maxSafe+1)
		return hasMin && hasMax
	}
	return !slices.ContainsFunc(values, func(v json.RawMessage) bool { return !within(v, maxSafe) })
}

// maxSafe is the largest integer that float64 distinguishes from its neighbours. An exclusive bound may be larger by one.
const maxSafe = 1<<53 - 1

// within reports whether there is a number, and it lies between -most and most.
func within(number json.RawMessage, most int64) bool {
	const bits = 128 // exact near most; a float64 would round 2^53+1 to 2^53
	x, _, err := big.ParseFloat(string(number), 10, bits, big.ToNearestEven)
	return err == nil && x.Abs(x).Cmp(new(big.Float).SetInt64(most)) <= 0
}
