package typing

import "github.com/mcpkiln/mcpkiln/schema"

// formats are those that generated code asserts.
var formats = map[string]bool{
	"date-time": true, "date": true, "time": true, "duration": true, "email": true, "idn-email": true, "hostname": true,
	"idn-hostname": true, "ipv4": true, "ipv6": true, "uri": true, "uri-reference": true, "iri": true,
	"iri-reference": true, "uri-template": true, "uuid": true, "json-pointer": true, "relative-json-pointer": true,
	"regex": true,
}

// byteFormat is base64. In the protocol's documents it is asserted; elsewhere it is a hint, since JSON Schema has no such format.
const byteFormat = "byte"

// hints are formats of other vocabularies that say how a value is meant, and nothing that could be checked.
var hints = map[string]bool{
	byteFormat: true, "binary": true, "password": true, "int32": true, "int64": true, "float": true, "double": true,
}

func (r *reader) readFormat(s *shape, owner, v *schema.Node) {
	switch {
	case formats[v.Text], v.Text == byteFormat && r.protocol:
		s.str.at, s.str.formats = owner, []word{{owner, v.Text}}
	case !hints[v.Text]:
		r.report.Warn(v, "unknown-format", "use pattern to have it checked", "format %q is not known and checks nothing", v.Text)
	}
}
