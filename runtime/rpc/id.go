package rpc

import (
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// ID is a request id or progress token. Ids with the same JSON type and exact value are the same (CAN05), see Same: 1 is not "1", "\u0031" is
// "1", and 1.0, 1e0 and 1 are one integer (LET14). Integers of any size are exact. A number keeps the spelling in which it came, because some
// clients look for their 1.0 in a table in which 1 is another key; so == is too strict for ids that a peer spelt in two ways. The zero ID is no id.
type ID struct {
	text string // idString: the decoded value; idInt: the spelling, "" for plain digits; idBig: the spelling
	num  int64  // of idInt
	kind idKind
}

type idKind uint8

const (
	idNone idKind = iota
	idInt         // an integer that int64 can hold
	idBig         // any other integer
	idString
)

// IntID returns the id of an integer.
func IntID(n int64) ID { return ID{num: n, kind: idInt} }

// StringID returns the id of a string, which must be valid UTF-8.
func StringID(s string) ID { return ID{text: s, kind: idString} }

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.kind == idNone }

// Int returns the value of an integer id that fits into int64.
func (id ID) Int() (n int64, ok bool) { return id.num, id.kind == idInt }

// Same reports whether two ids are the same, however they are spelt.
func (id ID) Same(other ID) bool { return id == other || id.Plain() == other.Plain() }

// Plain returns the id in its canonical spelling: the Plain of ids that are the same is equal by ==.
func (id ID) Plain() ID {
	switch {
	case id.kind == idInt:
		id.text = ""
	case id.kind == idBig && !plainDigits(id.text):
		digits, _, _ := check.IntegerDigits([]byte(id.text), MaxIDBytes) // ParseID has validated it
		id.text = string(digits)
	}
	return id
}

// ByID is a map whose keys are ids, whatever their spelling.
type ByID[V any] map[ID]V

// Get returns the value of the id, the zero value if there is none.
func (m ByID[V]) Get(id ID) V { return m[id.Plain()] }

// Set sets the value of the id. The map must not be nil.
func (m ByID[V]) Set(id ID, v V) { m[id.Plain()] = v }

// Delete removes the id.
func (m ByID[V]) Delete(id ID) { delete(m, id.Plain()) }

// Text returns the value of a string id. For an integer it returns "", or the spelling if that is not the plain digits of an int64.
func (id ID) Text() string { return id.text }

// plainDigits reports whether the spelling of an integer has neither a point nor an exponent.
func plainDigits(text string) bool { return !strings.ContainsAny(text, ".eE") }
