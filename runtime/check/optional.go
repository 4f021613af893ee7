package check

import "encoding/json"

// Raw is any JSON value as it was written: scanned, its keys unique, its strings valid UTF-8. nil is absent.
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

// Or returns the value, or fallback when there is none.
func (o Optional[T]) Or(fallback T) T {
	if o.Set {
		return o.Value
	}
	return fallback
}

// Get returns the value and whether there is one.
func (o Optional[T]) Get() (T, bool) { return o.Value, o.Set }

// Nullable is an optional property that may also be null: absent (the zero value), null, or a value.
type Nullable[T any] struct {
	Optional[T]
	Null bool // present and null; Set is false then
}

// Null returns a Nullable that is written as null.
func Null[T any]() Nullable[T] { return Nullable[T]{Null: true} }
