// Package check is what generated decoders, validators and encoders call: one pass from bytes to a typed value and all
// its violations, without reflection and without an intermediate any.
//
// # Who does what
//
// Generated code says what a schema says: rule tables (rule.go), one decode function per type, one append function per
// type. The package does the rest: scanning, limits, paths, required, unknown, repeated and null members, messages.
// A complete sample of the code to generate stands in sample_test.go, where it is compiled, tested and measured:
//
//	var order = check.Object{Names: []string{"symbol", "quantity", "note"}, Required: check.Bits{0b11}, Unknown: check.Refuse}
//	var orderSymbol = check.String{Min: 1, Max: 8, Pattern: &check.Pattern{Source: "^[A-Z]+$"}}
//
//	func decodeOrder(d *check.Decoder, v *Order) {
//		for f := d.Object(&order); f >= 0; f = d.Next() {
//			switch f {
//			case 0:
//				v.Symbol = d.String(&orderSymbol)
//			case 1:
//				v.Quantity = d.Int(nil)
//			case 2:
//				v.Note = check.Some(d.String(nil))
//			}
//		}
//	}
//
//	func appendOrder(b []byte, v *Order) []byte {
//		b = append(b, '{')
//		b = check.AppendString(check.Member(b, `"symbol":`), v.Symbol)
//		b = check.AppendInt(check.Member(b, `"quantity":`), v.Quantity)
//		b = check.AppendOptional(b, `"note":`, v.Note, check.AppendString)
//		return append(b, '}')
//	}
//
// Between Object or Next and the following Next, generated code takes exactly one value; the same between Array and
// Item. After a violation the value is consumed all the same and decoding goes on; after malformed JSON or a limit
// every method returns at once and every loop ends.
package check
