package generator

import (
	"strings"
	"testing"
)

// TestVAL01OutputsLeaveDefaultsOut: a default is applied to what a tool is called with. What it answers can leave the property out, also
// where the default says nothing about which of two is required.
func TestVAL01OutputsLeaveDefaultsOut(t *testing.T) {
	const page = `{type: object, properties: {limit: {type: integer, default: 30}, state: {enum: [open, shut], default: open}}`
	r := mustGenerate(t, config(`
version: 1
server: {name: reports, version: 1.0.0}
go: {package: reports, out: reports}
schemas:
  Shared: `+page+`}
tools:
  list:
    description: List.
    inputSchema: {type: object, properties: {own: `+page+`}, shared: {$ref: "#/schemas/Shared"}}}
    outputSchema: {type: object, properties: {own: `+page+`, oneOf: [{required: [limit]}, {required: [state]}]}, shared: {$ref: "#/schemas/Shared"}}}
`))
	types, validate := r.file(t, "types.gen.go"), r.file(t, "validate.gen.go")
	for name, want := range map[string]string{
		"ListInputOwn":  "\t// Default 30.\n\tLimit int64 `json:\"limit\"`\n",
		"ListOutputOwn": "\t// Not set, it is left out, which means 30.\n\tLimit check.Optional[int64] `json:\"limit,omitzero\"`\n",
		"Shared":        "\t// Default 30, which decoding sets; not set, it is not written.\n\tLimit check.Optional[int64] `json:\"limit,omitzero\"`\n",
	} {
		if !strings.Contains(types, "type "+name+" struct {\n"+want) {
			t.Errorf("%s is not\n%s\n%s", name, want, types)
		}
	}
	for line, times := range map[string]int{"v.Limit = 30\n": 1, "v.Limit = check.Some[int64](30)\n": 1} {
		if got := strings.Count(validate, line); got != times {
			t.Errorf("%d times %s instead of %d", got, line, times)
		}
	}
}
