package lower

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/generator/internal/wire"
	"github.com/mcpkiln/mcpkiln/runtime/check/paramheader"
	"github.com/mcpkiln/mcpkiln/runtime/check/secret"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// checkHeaders checks the arguments of a tool that are repeated in HTTP headers, which some revisions have so that a gateway can route
// without reading the body (EXT14). Clients refuse a tool that declares such a header wrongly, so that is an error here. Package paramheader
// finds the declarations that clients find; checkHeaders knows their positions in the source, and also finds those that clients do not. In an
// outputSchema the keyword does nothing, which is most likely a mistake.
func (l *packageLowering) checkHeaders(tool string, input, output *schema.Node) {
	if !slices.ContainsFunc(l.in.Revisions, hasParamHeaders) {
		return
	}
	h := headerCheck{report: &l.diags, tool: tool, seen: map[string]*schema.Node{}}
	h.schema(input, false, true)
	h.output = true
	h.schema(output, false, false)
}

func hasParamHeaders(r *revision.Revision) bool {
	return slices.ContainsFunc(r.HTTP.Headers, func(h revision.Header) bool { return h.Name == "paramPrefix" })
}

type headerCheck struct {
	report *schema.Diagnostics
	tool   string
	seen   map[string]*schema.Node // by name in lower case, as HTTP compares names
	output bool                    // the schema is the outputSchema
}

// schema checks one schema and all below it. property says that it is the schema of a property; reached, that only properties lead to it, so that
// a client finds the argument without evaluating a schema.
func (h *headerCheck) schema(n *schema.Node, property, reached bool) {
	if !n.Is(schema.Object) {
		return
	}
	for _, m := range n.Members {
		switch m.Key {
		case paramheader.Keyword:
			h.header(n, m.Value, property && reached)
		case "properties":
			h.all(m.Value, true, reached)
		case "$defs", "definitions", "patternProperties", "dependencies", "dependentSchemas":
			h.all(m.Value, false, false)
		case "items", "additionalProperties", "contentSchema", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
			"unevaluatedProperties", "additionalItems", "allOf", "anyOf", "oneOf", "prefixItems":
			h.schema(m.Value, false, false)
			for _, item := range m.Value.Items {
				h.schema(item, false, false)
			}
		}
	}
}

func (h *headerCheck) all(n *schema.Node, property, reached bool) {
	for _, m := range wire.MembersOf(n) {
		h.schema(m.Value, property, reached)
		if property {
			h.secret(m.Key, m.Value)
		}
	}
}

// secret warns of an argument that is named like a secret, which a header would show to gateways and their logs (LET04).
func (h *headerCheck) secret(name string, n *schema.Node) {
	header, said := n.Get(paramheader.Keyword), n.Get("x-sensitive")
	field := secret.Field{Name: name, Title: typing.TextOf(n, "title"), Number: typing.TextOf(n, "type") == "integer"}
	if header == nil || said.Is(schema.Bool) || field.Asked() == "" {
		return
	}
	h.report.Warn(header, "tool-header", "remove it, or say x-sensitive: false at the property if it is no secret",
		"gateways log headers, and the argument %.80q of tool %q is named like a secret", name, h.tool)
}

func (h *headerCheck) header(owner, name *schema.Node, reached bool) {
	const code = "tool-header"
	switch first := h.seen[strings.ToLower(name.Text)]; {
	case h.output:
		h.report.Warn(name, code, "remove it, or move it to a property of the inputSchema", "%s of tool %q does nothing in an outputSchema: only arguments are repeated in headers",
			paramheader.Keyword, h.tool)
	case !reached:
		h.report.Report(name, code, "move it to a property of the inputSchema, or of an object among its properties",
			"%s of tool %q stands where clients do not find the argument", paramheader.Keyword, h.tool)
	case name.Kind != schema.String || !paramheader.IsToken(name.Text):
		h.report.Report(name, code, "use letters, digits and -", "%s of tool %q is no part of a header's name", paramheader.Keyword, h.tool)
	case first != nil:
		h.report.Report(name, code, "", "tool %q has the header %q already at line %d; case does not tell them apart", h.tool, name.Text, first.Pos.Line)
	case !slices.Contains([]string{"string", "integer", "boolean"}, typing.TextOf(owner, "type")):
		h.report.Report(name, code, "", "only arguments of type string, integer or boolean can be in a header")
	case !paramheader.Exact(owner.JSON()):
		h.report.Report(name, code, "give it minimum and maximum, or an enum, within -9007199254740991 and 9007199254740991",
			"%s of tool %q is on an integer that JavaScript clients can not hold exactly", paramheader.Keyword, h.tool)
	default:
		h.seen[strings.ToLower(name.Text)] = name
	}
}
