package proof_test

import (
	"bytes"
	"errors"
	"io"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/schema"
)

var errBeyond = errors.New("leads out of the document")

// reference compiles a schema with the validator that ours is held against.
func reference(dialect schema.Dialect, document []byte) (*jsonschema.Schema, error) {
	c, err := compiler(dialect, document)
	if err != nil {
		return nil, err
	}
	return c.Compile(address)
}

const address = "mem://document"

// compiler reads one document and no others. Formats are asserted, as ours are.
func compiler(dialect schema.Dialect, document []byte) (*jsonschema.Compiler, error) {
	c := jsonschema.NewCompiler()
	c.Draft, c.AssertFormat = jsonschema.Draft2020, true
	if dialect == schema.Draft7 {
		c.Draft = jsonschema.Draft7
	}
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, errBeyond }
	return c, c.AddResource(address, bytes.NewReader(document))
}

// borrowFormats gives the reference our formats where its own accept what net/url, net/mail and the like accept. The official suite
// tests those; here they would only hide other findings. Base64 is none of its formats.
func borrowFormats() {
	for name, format := range map[string]format.Format{
		"uri": format.URI, "uri-reference": format.URIReference, "iri": format.IRI, "iri-reference": format.IRIReference,
		"uri-template": format.URITemplate, "email": format.Email, "idn-email": format.IDNEmail,
		"hostname": format.Hostname, "duration": format.Duration, "time": format.Time, "regex": format.Regex,
		"relative-json-pointer": format.RelativeJSONPointer, "ipv4": format.IPv4, // 0.0.0.00 is none
		"byte": format.Byte,
	} {
		jsonschema.Formats[name] = func(v any) bool {
			s, ok := v.(string)
			return !ok || format.Match(s)
		}
	}
}
