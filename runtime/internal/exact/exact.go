// Package exact reads JSON of others into structs by the exact names of members, as generated decoders do. encoding/json ignores the case of names, so
// what it reads for a check may be another value than the one that is used afterwards.
//
// It is for the packages of the runtime.
package exact

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
)

// Unmarshal is json.Unmarshal, but a member belongs to a field only if it has exactly the name in the field's tag. A field without a tag is not read. If
// a value is of the wrong type, the others are read all the same, and the first error is returned.
func Unmarshal(text []byte, v any) error { return read(text, reflect.ValueOf(v).Elem()) }

func read(text []byte, v reflect.Value) error {
	t := v.Type()
	_, own := v.Addr().Interface().(json.Unmarshaler)
	switch {
	case own || string(text) == "null":
	case t.Kind() == reflect.Struct:
		var members map[string]json.RawMessage
		err := json.Unmarshal(text, &members)
		return cmp.Or(err, readFields(members, v))
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return read(text, v.Elem())
	case t.Kind() == reflect.Map && mayHaveFields(t.Elem()):
		var members map[string]json.RawMessage
		err := json.Unmarshal(text, &members)
		if err == nil {
			v.Set(reflect.MakeMapWithSize(t, len(members)))
		}
		for name, member := range members {
			value := reflect.New(t.Elem()).Elem()
			err = cmp.Or(err, read(member, value))
			v.SetMapIndex(reflect.ValueOf(name), value)
		}
		return err
	case t.Kind() == reflect.Slice && mayHaveFields(t.Elem()):
		var items []json.RawMessage
		err := json.Unmarshal(text, &items)
		if err == nil {
			v.Set(reflect.MakeSlice(t, len(items), len(items)))
		}
		for i, item := range items {
			err = cmp.Or(err, read(item, v.Index(i)))
		}
		return err
	}
	return json.Unmarshal(text, v.Addr().Interface())
}

// readFields reads members into the fields of v and of the structs that are embedded in it.
func readFields(members map[string]json.RawMessage, v reflect.Value) (err error) {
	for field, of := range v.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		member, ok := members[name]
		switch {
		case field.Anonymous:
			err = cmp.Or(err, readFields(members, of))
		case ok && name != "":
			err = cmp.Or(err, read(member, of))
		}
	}
	return err
}

// mayHaveFields reports whether values of the type may contain a struct.
func mayHaveFields(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer || t.Kind() == reflect.Map || t.Kind() == reflect.Slice
}
