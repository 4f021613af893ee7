package emit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/emit"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
)

// BenchmarkTools lowers and emits the inputs of tools with 10 fields each, documents already read.
func BenchmarkTools(b *testing.B) {
	for _, tools := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(tools), func(b *testing.B) {
			docs := make([]*schema.Document, tools)
			for i := range docs {
				n, _ := schema.ParseJSON("tool.json", []byte(tenFields))
				docs[i], _ = schema.NewDocument(n, nil)
			}
			lines := 0
			for b.Loop() {
				types := typing.NewTypes()
				for i, doc := range docs {
					types.Lower(typing.Root{Document: doc, Name: fmt.Sprintf("Tool%dInput", i), Use: both})
				}
				decls, diags := types.Finish()
				if diags.HasErrors() {
					b.Fatal(diags)
				}
				lines = strings.Count(string(emit.TypesFile(emit.Header, "tools", decls)), "\n") +
					strings.Count(string(emit.ValidateFile(emit.Header, "tools", decls)), "\n")
			}
			b.ReportMetric(float64(lines)/float64(tools), "lines/tool")
		})
	}
}

const tenFields = `{"type": "object", "required": ["symbol", "side", "quantity"], "properties": {
	"symbol": {"type": "string", "minLength": 1, "maxLength": 8, "description": "What to trade."},
	"side": {"enum": ["buy", "sell"], "description": "Which way."},
	"quantity": {"type": "integer", "minimum": 1},
	"limit": {"type": "number", "exclusiveMinimum": 0, "description": "At most this price."},
	"venue": {"type": "string", "default": "XNYS"},
	"note": {"type": ["string", "null"]},
	"tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
	"urgent": {"type": "boolean"},
	"expires": {"type": "string", "format": "date-time"},
	"account": {"type": "string", "pattern": "^acc_[a-z0-9]+$"}}}`
