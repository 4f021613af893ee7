package wire

import (
	"bytes"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// The functions below write a member that may be absent; a zero value is. Generated code calls them. A key may open objects that
// hold nothing else, `"_meta":{"token":`, which after closes.

// OptionalString appends a member with a string, or nothing for the empty one.
func OptionalString(b []byte, key, v string, after ...string) []byte {
	if v == "" {
		return b
	}
	return closing(check.AppendString(check.Member(b, key), v), after)
}

// OptionalRaw appends a member with a raw value, or nothing for none.
func OptionalRaw(b []byte, key string, v []byte, after ...string) []byte {
	if len(v) == 0 {
		return b
	}
	return closing(append(check.Member(b, key), v...), after)
}

// OptionalBool appends a member that is true, or nothing for false.
func OptionalBool(b []byte, key string, v bool, after ...string) []byte {
	if !v {
		return b
	}
	return closing(append(check.Member(b, key), "true"...), after)
}

// OptionalFloat appends a member with a number, or nothing for 0.
func OptionalFloat(b []byte, key string, v float64, after ...string) []byte {
	if v == 0 {
		return b
	}
	return closing(check.AppendFloat(check.Member(b, key), v), after)
}

// OptionalMillis appends a member with a duration, or nothing for 0.
func OptionalMillis(b []byte, key string, v Millis, after ...string) []byte {
	if v == 0 {
		return b
	}
	return closing(v.AppendJSON(check.Member(b, key)), after)
}

// OptionalID appends a member with an id, or nothing for the zero ID.
func OptionalID(b []byte, key string, v rpc.ID, after ...string) []byte {
	if v.IsZero() {
		return b
	}
	return closing(v.AppendJSON(check.Member(b, key)), after)
}

// OptionalStrings appends a member with a list, or nothing for an empty one.
func OptionalStrings(b []byte, key string, v []string, after ...string) []byte {
	if len(v) == 0 {
		return b
	}
	return closing(check.AppendSlice(check.Member(b, key), v, check.AppendString[string]), after)
}

func closing(b []byte, after []string) []byte {
	for _, text := range after {
		b = append(b, text...)
	}
	return b
}

// AppendMembers appends the members of the raw JSON object to the object that b ends in: with a comma before them if
// that has members already, and none after them, as check.Member expects.
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
