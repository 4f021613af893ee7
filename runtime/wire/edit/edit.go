// Package edit changes JSON texts that are known to be valid: it removes members of objects, and replaces values at paths. Members keep their
// order, and values that are not changed keep their spelling.
//
// It is for those who change how definitions written for a newer revision are shown in an older one: package wire has the rules for that.
package edit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// Object is a JSON object with its members in their order.
type Object []Member

// Member is a member of an Object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// ObjectOf reads an object; it returns nil if the text is none.
func ObjectOf(text []byte) (o Object) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var m Member
		if err == nil {
			err = d.Decode(&m.Value)
		}
		if err != nil {
			return nil
		}
		m.Name, _ = name.(string)
		o = append(o, m)
	}
	return o
}

// AppendJSON appends the object to b.
func (o Object) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(check.AppendString(b, m.Name), ':'), m.Value...)
	}
	return append(b, '}')
}

// A path is names of members joined by slashes. These steps of a path are no names:
const (
	EveryItem   = "*"  // of a list
	EveryMember = "{}" // of an object
)

// AppendOmitting appends an object without some of its members, which are names or paths.
func AppendOmitting(b []byte, object string, members []string) []byte {
	for _, member := range members {
		if name := member[strings.LastIndexByte(member, '/')+1:]; check.Mentions([]byte(object), name) {
			object = string(omit([]byte(object), strings.Split(member, "/")))
		}
	}
	return append(b, object...)
}

// omit returns a value without the members at a path.
func omit(value []byte, path []string) []byte {
	if path[0] == EveryItem {
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			return value
		}
		return check.AppendSlice(nil, items, func(b []byte, item json.RawMessage) []byte { return append(b, omit(item, path[1:])...) })
	}
	members := ObjectOf(value)
	if members == nil {
		return value
	}
	if len(path) == 1 {
		return slices.DeleteFunc(members, func(m Member) bool { return m.Name == path[0] }).AppendJSON(nil)
	}
	for i := range members {
		if members[i].Name == path[0] {
			members[i].Value = omit(members[i].Value, path[1:])
		}
	}
	return members.AppendJSON(nil)
}

// At returns a value in which the values at a path are replaced by what change returns for them. If change never reports a change, the value is
// returned as it is.
func At(value []byte, path string, change func([]byte) ([]byte, bool)) []byte {
	edited, changed := step(value, strings.Split(path, "/"), change)
	if !changed {
		return value
	}
	return edited
}

// step is At for the steps of a path, and reports whether change reported a change.
func step(value []byte, path []string, change func([]byte) ([]byte, bool)) (edited []byte, changed bool) {
	if len(path) == 0 {
		return change(value)
	}
	if path[0] == EveryItem {
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			return value, false
		}
		for i := range items {
			item, itemChanged := step(items[i], path[1:], change)
			items[i], changed = item, changed || itemChanged
		}
		return check.AppendSlice(nil, items, func(b []byte, item json.RawMessage) []byte { return append(b, item...) }), changed
	}
	members := ObjectOf(value)
	if members == nil {
		return value, false
	}
	for i := range members {
		if m := &members[i]; m.Name == path[0] || path[0] == EveryMember {
			member, memberChanged := step(m.Value, path[1:], change)
			m.Value, changed = member, changed || memberChanged
		}
	}
	return members.AppendJSON(nil), changed
}
