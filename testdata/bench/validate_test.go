package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
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
	name         string
	data         []byte
	tool         string // whose inputSchema it is, or
	message      string // a schema, of definitions of 2025-11-25
	kiln, byHand decoder
	into         func() any
	peers        []peerDecoder
}

type decoder func([]byte) error

// peerDecoder is a server of others as far as it decodes and validates the input of a tool.
type peerDecoder struct {
	name string
	dial func(b *testing.B, tool string, inputSchema []byte) decoder
}

func rows() []row {
	return []row{
		{
			name: "small", data: []byte(orderArgs), tool: "place_order", into: newOf[sdkOrder],
			kiln: discard(kiln.DecodePlaceOrder), byHand: discard(orderByHand),
			peers: []peerDecoder{{"go-sdk-call", decodeSDK}, {"mcp-go-message", decodeMCPGo}},
		},
		{
			name: "nested-2kB", data: trip(9), tool: "book_trip", into: newOf[plainTrip],
			kiln: discard(kiln.DecodeBookTrip), byHand: discard(tripByHand),
		},
		{
			name: "records-200kB", data: records(2400), tool: "import_records", into: newOf[plainRecords],
			kiln: discard(kiln.DecodeImportRecords), byHand: discard(recordsByHand),
		},
		{ // the envelope, the params, and the arguments as they are written
			name: "message-call", data: call(nil, 7, placeOrder), message: `{"$ref":"core.json#/$defs/CallToolRequest"}`, into: newOf[plainMessage],
			kiln: kiln.ForCallTool().Read, byHand: discard(callByHand),
		},
		{
			name: "message-cancelled", data: []byte(cancelledMessage), message: `{"$ref":"core.json#/$defs/CancelledNotification"}`, into: newOf[plainMessage],
			kiln: kiln.ForCancelled().Read, byHand: discard(cancelledByHand),
		},
		{ // the envelope, the blocks of content in their types, and the structured content as the tool's output
			name: "message-result", data: []byte(resultMessage), into: newOf[plainResult],
			message: `{"$ref":"core.json#/$defs/JSONRPCResultResponse","properties":{"result":{"$ref":"core.json#/$defs/CallToolResult"}}}`,
			kiln:    discard(kiln.ReadAnswer), byHand: discard(answerByHand),
		},
	}
}

func newOf[T any]() any { return new(T) }

func discard[T any](decode func([]byte) (T, error)) decoder {
	return func(data []byte) error {
		_, err := decode(data)
		return err
	}
}

// BenchmarkDecode is decoding and validating each input.
func BenchmarkDecode(b *testing.B) {
	for _, r := range rows() {
		b.Run(r.name, r.run)
	}
}

func (r row) run(b *testing.B) {
	contest(b, "mcpkiln", r.data, r.kiln)
	contest(b, "by-hand", r.data, r.byHand)
	contest(b, "encoding-json-unchecked", r.data, r.decode)
	contest(b, "goccy-unchecked", r.data, func(data []byte) error { return goccy.Unmarshal(data, r.into()) })
	text := r.schema(b)
	s5, s6 := compile(b, text)
	contest(b, "jsonschema-v5", r.data, func(data []byte) error {
		var v any
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			return err
		}
		if err := s5.Validate(v); err != nil {
			return err
		}
		return r.decode(data)
	})
	contest(b, "jsonschema-v6", r.data, func(data []byte) error {
		v, err := v6.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		if err := s6.Validate(v); err != nil {
			return err
		}
		return r.decode(data)
	})
	for _, p := range r.peers {
		contest(b, p.name, r.data, p.dial(b, r.tool, text))
	}
}

func (r row) decode(data []byte) error { return json.Unmarshal(data, r.into()) }

func contest(b *testing.B, name string, data []byte, once decoder) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := once(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// compile compiles a schema with both libraries.
func compile(b *testing.B, text []byte) (*v5.Schema, *v6.Schema) {
	core, err := schema.Revisions.ReadFile("2025-11-25/core.json")
	if err != nil {
		b.Fatal(err)
	}
	c5, c6 := v5.NewCompiler(), v6.NewCompiler()
	for name, text := range map[string][]byte{"mem:///schema.json": text, "mem:///core.json": core} {
		if err := c5.AddResource(name, bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
		doc, err := v6.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			b.Fatal(err)
		}
		if err := c6.AddResource(name, doc); err != nil {
			b.Fatal(err)
		}
	}
	return c5.MustCompile("mem:///schema.json"), c6.MustCompile("mem:///schema.json")
}

// schema is the text of the row's schema: of the manifest's tool, or of the message.
func (r row) schema(b *testing.B) []byte {
	if r.message != "" {
		return []byte(r.message)
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

// BenchmarkReject is each input accepted, refused for one value, and refused for the same in every record or leg.
func BenchmarkReject(b *testing.B) {
	for i, fault := range []struct{ good, bad string }{
		{`"side":"buy"`, `"side":"bye"`}, {`"from":"ZRH"`, `"from":"Zrh"`}, {`"kind":"medium"`, `"kind":"minute"`},
	} {
		r := rows()[i]
		b.Run(r.name, func(b *testing.B) {
			contest(b, "accepted", r.data, r.kiln)
			contest(b, "rejected-one", []byte(strings.Replace(string(r.data), fault.good, fault.bad, 1)), refused(r.kiln))
			contest(b, "rejected-all", []byte(strings.ReplaceAll(string(r.data), fault.good, fault.bad)), refused(r.kiln))
		})
	}
}

// refused turns what a decoder takes into an error.
func refused(decode decoder) decoder {
	return func(data []byte) error {
		if decode(data) == nil {
			return errors.New("accepted")
		}
		return nil
	}
}
