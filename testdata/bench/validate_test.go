package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	goccy "github.com/goccy/go-json"
	"github.com/mcpkiln/mcpkiln/schema"
	v5 "github.com/santhosh-tekuri/jsonschema/v5"
	v6 "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpkiln/mcpkiln/testdata/bench/kiln"
)

// row is one input of the benchmarks of decoding and validating, for each contestant. encoding/json and goccy decode
// without validating; v5 and v6 validate what encoding/json decoded, and it decodes once more into the type.
type row struct {
	name   string
	data   []byte
	tool   string // whose inputSchema it is, or
	def    string // the definition of 2025-11-25
	kiln   func([]byte) error
	byHand func([]byte) error
	into   func() any
}

func rows() []row {
	return []row{
		{name: "small", data: []byte(orderArgs), tool: "place_order", kiln: discard(kiln.DecodePlaceOrder), byHand: orderByHand, into: func() any { return new(sdkOrder) }},
		{name: "nested-2kB", data: trip(9), tool: "book_trip", kiln: discard(kiln.DecodeBookTrip), into: func() any { return new(plainTrip) }},
		{name: "records-200kB", data: records(2400), tool: "import_records", kiln: discard(kiln.DecodeImportRecords), into: func() any { return new(plainRecords) }},
		{name: "message-call", data: call(nil, 7, placeOrder), def: "CallToolRequest", kiln: discard(kiln.ReadCallTool), into: func() any { return new(plainMessage) }},
		{name: "message-cancelled", data: []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"not needed"}}`),
			def: "CancelledNotification", kiln: discard(kiln.ReadCancelled), into: func() any { return new(plainMessage) }},
	}
}

func discard[T any](decode func([]byte) (T, error)) func([]byte) error {
	return func(data []byte) error {
		_, err := decode(data)
		return err
	}
}

// BenchmarkDecode is decoding and validating each input.
func BenchmarkDecode(b *testing.B) {
	for _, r := range rows() {
		b.Run(r.name, func(b *testing.B) { r.run(b) })
	}
}

func (r row) run(b *testing.B) {
	contest := func(name string, once func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(r.data)))
			for b.Loop() {
				if err := once(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	contest("mcpkiln", func() error { return r.kiln(r.data) })
	if r.byHand != nil {
		contest("by-hand", func() error { return r.byHand(r.data) })
	}
	contest("encoding-json-unchecked", func() error { return json.Unmarshal(r.data, r.into()) })
	contest("goccy-unchecked", func() error { return goccy.Unmarshal(r.data, r.into()) })
	s5, s6 := r.compile(b)
	contest("jsonschema-v5", func() error {
		var v any
		dec := json.NewDecoder(bytes.NewReader(r.data))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			return err
		}
		if err := s5.Validate(v); err != nil {
			return err
		}
		return json.Unmarshal(r.data, r.into())
	})
	contest("jsonschema-v6", func() error {
		v, err := v6.UnmarshalJSON(bytes.NewReader(r.data))
		if err != nil {
			return err
		}
		if err := s6.Validate(v); err != nil {
			return err
		}
		return json.Unmarshal(r.data, r.into())
	})
}

// compile compiles the row's schema with both libraries.
func (r row) compile(b *testing.B) (*v5.Schema, *v6.Schema) {
	text, ref := r.schema(b), "mem://schema.json"
	if r.def != "" {
		ref += "#/$defs/" + r.def
	}
	c5 := v5.NewCompiler()
	if err := c5.AddResource("mem://schema.json", bytes.NewReader(text)); err != nil {
		b.Fatal(err)
	}
	doc, err := v6.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		b.Fatal(err)
	}
	c6 := v6.NewCompiler()
	if err := c6.AddResource("mem://schema.json", doc); err != nil {
		b.Fatal(err)
	}
	return c5.MustCompile(ref), c6.MustCompile(ref)
}

// schema is the text of the row's schema: of the manifest's tool, or the protocol's document.
func (r row) schema(b *testing.B) []byte {
	if r.def != "" {
		text, err := schema.Revisions.ReadFile("2025-11-25/core.json")
		if err != nil {
			b.Fatal(err)
		}
		return text
	}
	data, err := os.ReadFile("mcpkiln.yaml")
	if err != nil {
		b.Fatal(err)
	}
	root, ds := schema.Parse("mcpkiln.yaml", data)
	if ds.HasErrors() {
		b.Fatal(ds)
	}
	return root.Get("tools").Get(r.tool).Get("inputSchema").JSON()
}

// BenchmarkReject is 200 kB of records of which every one is wrong, beside the same size accepted.
func BenchmarkReject(b *testing.B) {
	good := records(2400)
	bad := bytes.ReplaceAll(good, []byte(`"kind":"medium"`), []byte(`"kind":"minute"`))
	b.Run("accepted", func(b *testing.B) {
		for b.Loop() {
			if _, err := kiln.DecodeImportRecords(good); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("rejected", func(b *testing.B) {
		for b.Loop() {
			if _, err := kiln.DecodeImportRecords(bad); err == nil {
				b.Fatal("accepted")
			}
		}
	})
}

type plainTrip struct {
	ID        string `json:"id"`
	Traveller struct {
		Name  string   `json:"name"`
		Email string   `json:"email"`
		Born  string   `json:"born"`
		Tags  []string `json:"tags"`
	} `json:"traveller"`
	Legs []struct {
		From    string  `json:"from"`
		To      string  `json:"to"`
		Departs string  `json:"departs"`
		Price   float64 `json:"price"`
		Seat    any     `json:"seat"`
	} `json:"legs"`
	Note *string `json:"note"`
}

type plainRecords struct {
	Records []struct {
		ID     int64   `json:"id"`
		Name   string  `json:"name"`
		Score  float64 `json:"score"`
		Active bool    `json:"active"`
		Kind   string  `json:"kind"`
	} `json:"records"`
}

type plainMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason"`
	} `json:"params"`
}

// trip is a nested input; ten legs make about 2 kB.
func trip(legs int) []byte {
	b := []byte(`{"id":"6f1c2b9e-8d44-4c1f-9b62-0d9a5a3f7e10","traveller":{"name":"Ada Lovelace","email":"ada@example.com","born":"1815-12-10","tags":["window","vegetarian","frequent"]},"legs":[`)
	for i := range legs {
		if i > 0 {
			b = append(b, ',')
		}
		seat := `"12A"`
		if i%2 == 1 {
			seat = `{"row":31,"letter":"F"}`
		}
		b = fmt.Appendf(b, `{"from":"ZRH","to":"LIS","departs":"2026-11-%02dT08:15:00+01:00","price":%d.5,"seat":%s,"remark":"the quick brown fox jumps over the lazy dog and looks for a seat; nobody checks this text, it only has to be read to its end"}`, i+1, 100+i, seat)
	}
	return append(b, `],"note":null}`...)
}

// records is an array of n records of about 85 bytes.
func records(n int) []byte {
	b := []byte(`{"records":[`)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"id":%d,"name":"record number %d","score":%d.25,"active":true,"kind":"medium"}`, i+1, i+1, i%100)
	}
	return append(b, `]}`...)
}
