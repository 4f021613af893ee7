// Package exact reads JSON of others into structs by the exact names of members, as generated decoders do. encoding/json ignores the case of names, so
// what it reads for a check may be another value than the one that is used afterwards.
//
// It is for the packages of the runtime.
package exact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// Unmarshal is json.Unmarshal, but a member belongs to a field only if it has exactly the name in the field's tag. A field without a tag is not read, and
// Go arrays are not looked into. If a value is of the wrong type, the others are read all the same, and the first error is returned. A name that is no
// valid Unicode is an error.
func Unmarshal(text []byte, v any) error {
	if !json.Valid(text) {
		return json.Unmarshal(text, new(json.RawMessage)) // which says why not
	}
	return read(bytes.TrimSpace(text), reflect.ValueOf(v).Elem())
}

// read reads a valid text into v.
func read(text []byte, v reflect.Value) (err error) {
	t := v.Type()
	_, own := v.Addr().Interface().(json.Unmarshaler)
	switch kind := t.Kind(); {
	case own || string(text) == "null":
	case kind == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return read(text, v.Elem())
	case kind == reflect.Struct && text[0] == '{':
		unread := each(text, func(d *check.Decoder) {
			if field := fieldOf(v, d.Key()); field.IsValid() {
				err = cmp.Or(err, read(d.Alias(nil), field))
			} else {
				d.Skip()
			}
		})
		return cmp.Or(err, unread)
	case kind == reflect.Map && text[0] == '{' && mayHaveFields(t.Elem()):
		v.Set(reflect.MakeMap(t))
		unread := each(text, func(d *check.Decoder) {
			name, value := d.Key(), reflect.New(t.Elem()).Elem()
			err = cmp.Or(err, read(d.Alias(nil), value))
			v.SetMapIndex(reflect.ValueOf(name), value)
		})
		return cmp.Or(err, unread)
	case kind == reflect.Slice && text[0] == '[' && mayHaveFields(t.Elem()):
		v.Set(reflect.MakeSlice(t, 0, 0))
		unread := each(text, func(d *check.Decoder) {
			value := reflect.New(t.Elem()).Elem()
			err = cmp.Or(err, read(d.Alias(nil), value))
			v.Set(reflect.Append(v, value))
		})
		return cmp.Or(err, unread)
	}
	return json.Unmarshal(text, v.Addr().Interface())
}

// each calls value at the value of each member or item of an object or array, for taking it. The error is that of a name that can not be read: the members
// from there on are not.
func each(text []byte, value func(d *check.Decoder)) error {
	d := check.GetScanned(text, check.Limits{Depth: math.MaxInt, Bytes: len(text), NumberBytes: len(text)})
	defer d.Put()
	if text[0] == '{' {
		for i := d.Object(nil); i != -1; i = d.Next() {
			value(d)
		}
		return d.Finish()
	}
	for more := d.Array(nil); more; more = d.Item() {
		value(d)
	}
	return d.Finish()
}

// fieldOf returns the field with the name of v, else that of a struct which is embedded in it; the zero Value for none.
func fieldOf(v reflect.Value, name string) (found reflect.Value) {
	for field, of := range v.Fields() {
		tag := field.Tag.Get("json")
		if tagged, _, _ := strings.Cut(tag, ","); field.Anonymous && !found.IsValid() {
			found = fieldOf(of, name)
		} else if !field.Anonymous && tagged == name && name != "" && tag != "-" {
			return of
		}
	}
	return found
}

// mayHaveFields reports whether values of the type may contain a struct.
func mayHaveFields(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer || t.Kind() == reflect.Map || t.Kind() == reflect.Slice
}
