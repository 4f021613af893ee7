package client

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// JSON has no text that is not UTF-8. Encoders put U+FFFD in the place of wrong bytes, and the other side would take that for what was meant: so what has
// such text is refused before it is sent.

// encode is json.Marshal, but refuses text that is not UTF-8.
func encode(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	switch {
	case err != nil:
		return nil, err
	case !utf8.Valid(raw): // a json.RawMessage in v
		return nil, notUTF8(raw, isNotUTF8)
	}
	return raw, textError(raw, v)
}

// textError returns an error if v, of which raw was encoded, has text that is not UTF-8. encoding/json writes the escape for it, package check the character.
func textError(raw []byte, v any) error {
	for _, replacement := range []string{`\ufffd`, "\ufffd"} {
		has := func(part []byte) bool { return bytes.Contains(part, []byte(replacement)) }
		if has(raw) && losesText(reflect.ValueOf(v)) {
			return notUTF8(raw, has)
		}
	}
	return nil
}

// validJSON is check.Valid with the error of withPlace.
func validJSON(raw []byte) error { return withPlace(check.Valid(raw, check.Limits{}), raw) }

// withPlace returns err, the error of reading raw, but names the place of text that is not UTF-8.
func withPlace(err error, raw []byte) error {
	if limit := (*check.LimitError)(nil); errors.As(err, &limit) && limit.Reason == check.InvalidUTF8 {
		return notUTF8(raw, isNotUTF8)
	}
	return err
}

// nameError returns an error if a name or an address is not UTF-8.
func nameError(what, name string) error {
	if utf8.ValidString(name) {
		return nil
	}
	return fmt.Errorf("client: the %s %q is not UTF-8", what, name)
}

func isNotUTF8(part []byte) bool { return !utf8.Valid(part) }

func notUTF8(raw []byte, wrong func(part []byte) bool) error {
	at := pointerTo(raw, wrong)
	if at != "" {
		at = " at " + at
	}
	return errors.New("the text" + at + " is not UTF-8: convert it, or send bytes in base64")
}

// pointerTo returns the JSON Pointer of the first value in raw that is wrong by itself: an object is if one of its names is.
func pointerTo(raw []byte, wrong func(part []byte) bool) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) == nil {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if wrong(members[name]) {
				return "/" + check.PointerStep(name) + pointerTo(members[name], wrong)
			}
		}
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil {
		if i := slices.IndexFunc(items, func(item json.RawMessage) bool { return wrong(item) }); i >= 0 {
			return "/" + strconv.Itoa(i) + pointerTo(items[i], wrong)
		}
	}
	return ""
}

var textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

// losesText reports whether a value that can be encoded has text that is not UTF-8.
func losesText(v reflect.Value) bool {
	switch {
	case !v.IsValid():
		return false
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		return losesText(v.Elem())
	case v.Type().Implements(textMarshaler) && v.CanInterface():
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		return err == nil && !utf8.Valid(text)
	}
	switch v.Kind() {
	case reflect.String:
		return !utf8.ValidString(v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" && losesText(v.Field(i)) {
				return true
			}
		}
	case reflect.Map:
		for each := v.MapRange(); each.Next(); {
			if losesText(each.Key()) || losesText(each.Value()) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if v.Type().Elem().Kind() != reflect.Uint8 && losesText(v.Index(i)) {
				return true
			}
		}
	}
	return false
}
