package check

import (
	"bytes"
	"encoding/json"
)

// Raw is any JSON value as it was written. One that a Decoder read is valid, with unique keys and valid UTF-8. nil means that there is no value.
type Raw = json.RawMessage

// Literal is a number as it was written, for numbers that neither int64 nor float64 can hold.
type Literal = json.Number

// Optional is a value that may be missing (an optional property) or null (a required, nullable one). The zero Optional
// is missing.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Some returns an Optional that is set.
func Some[T any](v T) Optional[T] { return Optional[T]{Value: v, Set: true} }

// Or returns the value, or other when there is none.
func (o Optional[T]) Or(other T) T {
	if o.Set {
		return o.Value
	}
	return other
}

// Get returns the value and whether there is one.
func (o Optional[T]) Get() (T, bool) { return o.Value, o.Set }

// IsZero is for the option omitzero of a field's tag: a missing value is not written.
func (o Optional[T]) IsZero() bool { return !o.Set }

// MarshalJSON writes the value, or null when there is none.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.Set {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // whether HTML is escaped is decided by the encoder that called
	err := e.Encode(o.Value)
	return b.Bytes(), err
}

// UnmarshalJSON reads the value; null means that there is none.
func (o *Optional[T]) UnmarshalJSON(b []byte) error {
	*o = Optional[T]{}
	if string(b) == "null" {
		return nil
	}
	o.Set = true
	return json.Unmarshal(b, &o.Value)
}

// Nullable is an optional property that may also be null: absent (the zero value), null, or a value.
type Nullable[T any] struct {
	Optional[T]
	Null bool // present and null; Set is false then
}

// Null returns a Nullable that is written as null.
func Null[T any]() Nullable[T] { return Nullable[T]{Null: true} }

// NonNull returns a Nullable that is set.
func NonNull[T any](v T) Nullable[T] { return Nullable[T]{Optional: Some(v)} }

// ReadNull takes the next value if it is null, notes that in n, and reports whether it is. Either way it clears the value of n.
func ReadNull[T any](d *Decoder, n *Nullable[T]) bool {
	*n = Nullable[T]{Null: d.Null()}
	return n.Null
}

// ReadSome sets o to what decode reads.
func ReadSome[T any](d *Decoder, o *Optional[T], decode func(*Decoder, *T)) {
	o.Set = true
	decode(d, &o.Value)
}

// IsZero is for the option omitzero of a field's tag: null is written, a missing value is not.
func (n Nullable[T]) IsZero() bool { return !n.Set && !n.Null }

// UnmarshalJSON reads a value or null.
func (n *Nullable[T]) UnmarshalJSON(b []byte) error {
	n.Null = string(b) == "null"
	return n.Optional.UnmarshalJSON(b)
}

// Unmarshal sets v to what decode reads from b, under the default limits. It is the UnmarshalJSON of types that encoding/json alone
// would not read completely. A null that the schema refuses gives the zero value instead of an error, because only the enclosing type knows
// whether null is allowed.
func Unmarshal[T any](b []byte, decode func(*Decoder, *T), v *T) error {
	var fresh, zero T
	err := Decode(b, Limits{}, decode, &fresh)
	if err != nil && string(b) == "null" {
		fresh, err = zero, nil
	}
	*v = fresh
	return err
}
