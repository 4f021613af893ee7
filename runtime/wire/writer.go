package wire

import (
	"bytes"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Writer is an object that is being written. Generated code begins it with Open, adds a member with each call, and ends it with Close:
//
//	return wire.Open(b).String(`"status":`, t.Status).OptionalString(`"statusMessage":`, t.StatusMessage).Close()
//
// A key is given in quotes and with its colon. An optional member whose value is zero is left out. Its key may open objects that have no other
// member, `"_meta":{"token":`; then the argument after closes them.
type Writer []byte

// Open begins an object, appended to b.
func Open(b []byte) Writer { return append(b, '{') }

// Object begins an object that is the value of a member; Close ends it.
func (w Writer) Object(key string) Writer { return append(w.Key(key), '{') }

// Close ends the object that was begun last.
func (w Writer) Close() Writer { return append(w, '}') }

// Key appends the key of a member whose value comes next.
func (w Writer) Key(key string) Writer { return check.Member(w, key) }

// Constant appends a member whose value is always the same JSON.
func (w Writer) Constant(key, json string) Writer { return append(w.Key(key), json...) }

// Raw appends a member with a raw value.
func (w Writer) Raw(key string, v []byte) Writer { return append(w.Key(key), v...) }

// String appends a member with a string.
func (w Writer) String(key, v string) Writer { return check.AppendString(w.Key(key), v) }

// Strings appends a member with a list of strings.
func (w Writer) Strings(key string, v []string) Writer {
	return check.AppendSlice(w.Key(key), v, check.AppendString[string])
}

// Bool appends a member that is true or false.
func (w Writer) Bool(key string, v bool) Writer { return check.AppendBool(w.Key(key), v) }

// Float appends a member with a number.
func (w Writer) Float(key string, v float64) Writer { return check.AppendFloat(w.Key(key), v) }

// Millis appends a member with a number of milliseconds, or null.
func (w Writer) Millis(key string, v Millis) Writer { return v.AppendJSON(w.Key(key)) }

// Time appends a member with a time.
func (w Writer) Time(key string, v Time) Writer { return v.AppendJSON(w.Key(key)) }

// ID appends a member with an id.
func (w Writer) ID(key string, v rpc.ID) Writer { return v.AppendJSON(w.Key(key)) }

// OptionalRaw appends a member with a raw value, or nothing for none.
func (w Writer) OptionalRaw(key string, v []byte, after ...string) Writer {
	if len(v) == 0 {
		return w
	}
	return w.Raw(key, v).closing(after)
}

// OptionalString appends a member with a string, or nothing for the empty one.
func (w Writer) OptionalString(key, v string, after ...string) Writer {
	if v == "" {
		return w
	}
	return w.String(key, v).closing(after)
}

// OptionalStrings appends a member with a list of strings, or nothing for an empty one.
func (w Writer) OptionalStrings(key string, v []string, after ...string) Writer {
	if len(v) == 0 {
		return w
	}
	return w.Strings(key, v).closing(after)
}

// OptionalBool appends a member that is true, or nothing for false.
func (w Writer) OptionalBool(key string, v bool, after ...string) Writer {
	if !v {
		return w
	}
	return w.Bool(key, v).closing(after)
}

// OptionalFloat appends a member with a number, or nothing for 0.
func (w Writer) OptionalFloat(key string, v float64, after ...string) Writer {
	if v == 0 {
		return w
	}
	return w.Float(key, v).closing(after)
}

// OptionalMillis appends a member with a number of milliseconds, or null; nothing for 0.
func (w Writer) OptionalMillis(key string, v Millis, after ...string) Writer {
	if v == 0 {
		return w
	}
	return w.Millis(key, v).closing(after)
}

// OptionalID appends a member with an id, or nothing for the zero ID.
func (w Writer) OptionalID(key string, v rpc.ID, after ...string) Writer {
	if v.IsZero() {
		return w
	}
	return w.ID(key, v).closing(after)
}

func (w Writer) closing(after []string) Writer {
	for _, text := range after {
		w = append(w, text...)
	}
	return w
}

// Members appends the members of a raw JSON object.
func (w Writer) Members(object []byte) Writer { return AppendMembers(w, object) }

// AppendMembers appends the members of a raw object to the open object that b ends with: after a comma if the open
// object has members already, and without a comma at the end, as check.Member expects.
func AppendMembers(b, object []byte) []byte {
	object = bytes.TrimSpace(object)
	if len(object) < 2 || object[0] != '{' {
		return b
	}
	inner := bytes.TrimSpace(object[1 : len(object)-1])
	if len(inner) == 0 {
		return b
	}
	if len(b) > 0 && b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(b, inner...)
}
