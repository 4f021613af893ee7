package bench

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	v5 "github.com/santhosh-tekuri/jsonschema/v5"
	v6 "github.com/santhosh-tekuri/jsonschema/v6"
)

const orderSchema = `{"type":"object","required":["symbol","side","quantity"],"properties":{
	"symbol":{"type":"string","pattern":"^[A-Z]{1,8}$"},"side":{"type":"string","enum":["buy","sell"]},
	"quantity":{"type":"integer","minimum":1,"maximum":1000000},"limit":{"type":"number","exclusiveMinimum":0},
	"note":{"type":"string","maxLength":80}}}`

// BenchmarkDecode is decoding and validating the small input of place_order. encoding/json alone does not validate.
func BenchmarkDecode(b *testing.B) {
	data := []byte(orderArgs)
	run := func(name string, once func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := once(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("mcpkiln", func() error { return decodeOrder(data) })
	run("encoding-json", func() error {
		var o sdkOrder
		return json.Unmarshal(data, &o)
	})
	s5 := v5.MustCompileString("order.json", orderSchema)
	run("jsonschema-v5", func() error {
		var v any
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			return err
		}
		if err := s5.Validate(v); err != nil {
			return err
		}
		var o sdkOrder
		return json.Unmarshal(data, &o)
	})
	s6 := compileV6(b)
	run("jsonschema-v6", func() error {
		v, err := v6.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		if err := s6.Validate(v); err != nil {
			return err
		}
		var o sdkOrder
		return json.Unmarshal(data, &o)
	})
}

func compileV6(b *testing.B) *v6.Schema {
	doc, err := v6.UnmarshalJSON(strings.NewReader(orderSchema))
	if err != nil {
		b.Fatal(err)
	}
	c := v6.NewCompiler()
	if err := c.AddResource("order.json", doc); err != nil {
		b.Fatal(err)
	}
	s, err := c.Compile("order.json")
	if err != nil {
		b.Fatal(err)
	}
	return s
}
