package typing

import (
	"cmp"
	"slices"

	"github.com/mcpkiln/mcpkiln/schema"
)

// byteFormat is base64. In the protocol's documents it is validated; elsewhere it is a hint, since JSON Schema has no such format.
const byteFormat = "byte"

// notValidated are formats of other vocabularies, such as OpenAPI, that are not validated.
var notValidated = map[string]bool{
	byteFormat: true, "binary": true, "password": true, "int32": true, "int64": true, "float": true, "double": true,
}

func (r *reader) readFormat(s *shape, owner, v *schema.Node) {
	switch {
	case slices.Contains(schema.Formats, v.Text), v.Text == byteFormat && r.protocol:
		s.str.at, s.str.formats = owner, []textRule{{owner, v.Text}}
	case !notValidated[v.Text]:
		hint := cmp.Or(schema.DidYouMean(v.Text, schema.Formats), "use pattern to have it checked")
		r.report.Warn(v, "unknown-format", hint, "format %q is not known and checks nothing", v.Text)
	}
}
