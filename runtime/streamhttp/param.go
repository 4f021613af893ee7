package streamhttp

import (
	"net/http"
	"net/textproto"
	"sync"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/paramheader"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// A property of a tool's inputSchema with x-mcp-header is repeated by a header, so that a gateway can route without
// reading the body. It may be at any depth, as long as only properties lead to it.

// param is one such property.
type param struct {
	header string   // as http.Header has it
	path   []string // in the arguments
}

// paramTable remembers the params of tools, which do not change.
type paramTable struct {
	prefix string       // of the names of the headers
	tools  sync.Map     // *server.Tool to []param
	known  atomic.Int64 // how many tools there are in it, about
}

// maxParamTools is the number of tools whose params are remembered. Tools are added and removed while the server runs, and removed ones
// must not stay in memory.
const maxParamTools = 4096

func (t *paramTable) of(tool *server.Tool) []param {
	if known, ok := t.tools.Load(tool); ok {
		return known.([]param)
	}
	list := readParams([]byte(tool.Definition), t.prefix)
	if t.known.Add(1) > maxParamTools {
		t.known.Store(1)
		t.tools.Clear()
	}
	t.tools.Store(tool, list)
	return list
}

// readParams finds the annotated properties in the definition of a tool. Annotations that are not valid are not enforced; the
// generator refuses them.
func readParams(definition []byte, prefix string) (list []param) {
	for _, p := range paramheader.Valid(definition) {
		list = append(list, param{header: textproto.CanonicalMIMEHeaderKey(prefix + p.Header), path: p.Path})
	}
	return list
}

// check reports whether the header repeats the arguments, which are well-formed JSON or absent. A value that is absent or null must have no
// header.
func (p *param) check(header http.Header, arguments []byte, enc sentinel) bool {
	value := arguments
	for _, name := range p.path {
		value = member(value, name)
	}
	sent := header[p.header]
	if value == nil || string(value) == "null" {
		return len(sent) == 0
	}
	if len(sent) != 1 {
		return false
	}
	got, ok := enc.decode(sent[0])
	return ok && sameScalar(value, got)
}

// sameScalar reports whether the header text stands for the JSON value. Numbers are compared by value: 42.0 is 42.
func sameScalar(value []byte, got string) bool {
	switch value[0] {
	case '"':
		want, _ := text(value)
		return want == got
	case '{', '[':
		return false
	}
	return string(value) == got || check.SameNumber(string(value), got)
}

// member is the value of a member of a JSON object, nil when there is none.
func member(object []byte, name string) (value []byte) {
	eachMember(object, func(key string, v []byte) {
		if key == name {
			value = v
		}
	})
	return value
}

// anyMember reads every member of an object.
var anyMember = check.Object{AdditionalProperties: check.Keep}

// eachMember visits the members of a JSON object; of anything else there are none.
func eachMember(object []byte, visit func(name string, value []byte)) {
	if len(object) == 0 || object[0] != '{' {
		return
	}
	d := check.Get(object, check.Limits{})
	defer d.Put()
	for f := d.Object(&anyMember); f >= 0; f = d.Next() {
		visit(d.Key(), d.Alias(nil))
	}
}

// text decodes a JSON string; ok is false for anything else.
func text(value []byte) (s string, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	d := check.Get(value, check.Limits{})
	defer d.Put()
	s = d.String(nil)
	return s, d.Finish() == nil
}
