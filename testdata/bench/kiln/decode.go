package kiln

import "github.com/mcpkiln/mcpkiln/runtime/check"

// DecodePlaceOrder hands the generated decoder to the benchmarks.
func DecodePlaceOrder(data []byte) (PlaceOrderInput, error) {
	var in PlaceOrderInput
	err := check.Decode(data, check.Limits{}, decodePlaceOrderInput, &in)
	return in, err
}
