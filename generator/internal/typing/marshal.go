package typing

import (
	"strings"
	"unicode"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// A type has a MarshalJSON or UnmarshalJSON only where encoding/json with field tags would not write the same as the
// generated encoder, or not read the same as the decoder. Most types need neither.

// setMarshalers decides which types get these methods. MarshalJSON needs the encoder, also if the package itself sends no such value;
// UnmarshalJSON is left out where there is no decoder.
func (t *Types) setMarshalers() {
	for _, d := range t.decls {
		if s, ok := d.Body.(*model.Struct); ok && s.Array == nil {
			for _, p := range s.Props {
				p.Tag = tag(p)
			}
		}
		if d.Name == "" || d.Same != nil || methodless(d) {
			continue
		}
		if d.Marshal = !plainly(d, writing); d.Marshal {
			use(d, model.Encode)
		}
		d.Unmarshal = d.Use&model.Decode != 0 && !plainly(d, reading)
	}
}

// methodless reports whether Go allows d no methods: interfaces, and types over pointers.
func methodless(d *model.Decl) bool {
	switch b := d.Body.(type) {
	case *model.Union:
		return true
	case *model.Defined:
		return b.Value.Storage == model.StorePointer || isUnion(&b.Value)
	}
	return false
}

// isUnion reports whether a value is an interface in Go.
func isUnion(v *model.Value) bool {
	named, ok := v.Type.(model.Named)
	if !ok {
		return false
	}
	switch b := named.Decl.Body.(type) {
	case *model.Union:
		return true
	case *model.Defined:
		return b.Value.Storage == model.StoreBare && isUnion(&b.Value)
	}
	return false
}

// direction says whether encoding/json reads a type or writes it.
type direction bool

const (
	writing direction = false
	reading direction = true
)

// plainly reports whether encoding/json, without methods, does with d what the generated functions do.
func plainly(d *model.Decl, dir direction) bool {
	switch b := d.Body.(type) {
	case *model.Struct:
		if b.Field != "" || b.Array != nil {
			return false
		}
		for _, p := range b.Props {
			if !plainProp(p, dir) {
				return false
			}
		}
	case *model.Mixed:
		return false // its Go type is a string
	case *model.Defined:
		return plainDefined(&b.Value, dir)
	}
	return true
}

func plainProp(p *model.Prop, dir direction) bool {
	switch {
	case dir == writing && p.Const != "", dir == reading && p.Default != nil:
		return false
	case p.Name == "":
		return true
	case p.Tag == "", dir == reading && p.Presence == model.Optional && nilIsNull(&p.Value):
		return false // null would be read as absent
	}
	nilIsNoValue := p.Storage == model.StoreBare && (p.Presence == model.Optional || p.Presence == model.Nullable)
	return plainValue(&p.Value, dir, nilIsNoValue && !(p.Presence == model.Nullable && nilIsWritten(&p.Value)))
}

// plainValue is plainly for a value. null says that nil stands for null or absent here, not for an empty list or object.
func plainValue(v *model.Value, dir direction, null bool) bool {
	switch t := v.Type.(type) {
	case *model.Slice:
		return (dir == reading || null) && plainElem(&t.Elem, dir)
	case *model.Map:
		return (dir == reading || null) && plainElem(&t.Elem, dir)
	case model.Formatted:
		// encoding/json writes a time.Duration as an integer, and nil bytes as null.
		return t.Name != "Duration" && (t.Name != "Bytes" || dir == reading || null)
	case model.Named:
		return dir == writing && (null || !v.Null || !nilIsWritten(v)) || dir == reading && !methodless(t.Decl)
	}
	return true
}

func plainElem(v *model.Value, dir direction) bool {
	return plainValue(v, dir, v.Null && !nilIsWritten(v))
}

// nilIsWritten reports whether a declared type has a MarshalJSON that writes its nil as an empty list or object.
func nilIsWritten(v *model.Value) bool {
	_, ok := v.Type.(model.Named)
	return ok && !isUnion(v) && classOf(v) == nilable
}

// plainDefined is plainly for a type defined over another one, which has the same structure but not its methods.
func plainDefined(v *model.Value, dir direction) bool {
	if v.Storage != model.StoreBare {
		return v.Storage == model.StorePointer
	}
	switch t := v.Type.(type) {
	case model.Raw, model.Decimal, model.Formatted:
		return false
	case model.Named:
		if _, ok := t.Decl.Body.(*model.Enum); ok {
			return true
		}
		return isUnion(v) || plainly(t.Decl, dir)
	}
	return plainValue(v, dir, v.Null)
}

// tag returns the JSON tag of a property's field; empty for names that encoding/json ignores in tags.
func tag(p *model.Prop) string {
	for _, r := range p.Key {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) {
			return ""
		}
	}
	switch {
	case p.Key != "" && (p.Presence == model.Optional || p.Presence == model.NullOptional || p.Presence == model.NullDefaulted):
		return p.Key + ",omitzero"
	case p.Key == "-":
		return "-,"
	}
	return p.Key
}
