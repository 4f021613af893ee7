package emit

import (
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// literal is a default as Go source.
func (s *source) literal(l model.Literal) string {
	switch l := l.(type) {
	case model.Basic:
		return string(l)
	case model.Parsed:
		return s.runtime(l.Of.Name+"Of") + "(" + goString(l.Text) + ")"
	case model.RawText:
		return s.runtime("Raw") + "(" + goString(string(l)) + ")"
	case model.NullLiteral:
		return s.nullLiteral(l)
	case *model.Stored:
		return s.storedLiteral(l)
	case *model.Convert:
		return l.To.Name + "(" + s.literal(l.Value) + ")"
	case *model.Composite:
		return s.compositeLiteral(l)
	}
	return ""
}

func (s *source) nullLiteral(l model.NullLiteral) string {
	switch l.Storage {
	case model.StoreOptional:
		return s.typ(&l.Of, l.Storage) + "{}"
	case model.StoreNullable:
		return s.runtime("Null") + "[" + s.goType(&l.Of) + "]()"
	case model.StoreNullablePointer:
		return s.runtime("Null") + "[*" + s.goType(&l.Of) + "]()"
	default:
		return "nil"
	}
}

func (s *source) storedLiteral(l *model.Stored) string {
	switch l.Storage {
	case model.StorePointer:
		return s.address(l)
	case model.StoreOptional:
		return s.runtime("Some") + "[" + s.typ(&l.Of, model.StoreBare) + "](" + s.literal(l.Value) + ")"
	case model.StoreNullable:
		return s.runtime("NonNull") + "[" + s.typ(&l.Of, model.StoreBare) + "](" + s.literal(l.Value) + ")"
	default: // check.NonNull[*Line](&Line{})
		return s.runtime("NonNull") + "[" + s.typ(&l.Of, model.StorePointer) + "](" + s.address(l) + ")"
	}
}

// address is an expression that points to a value.
func (s *source) address(l *model.Stored) string {
	if _, ok := l.Value.(*model.Composite); ok {
		return "&" + s.literal(l.Value)
	}
	return "new(" + s.literal(l.Value) + ")"
}

func (s *source) compositeLiteral(l *model.Composite) string {
	parts := make([]string, len(l.Entries))
	for i, e := range l.Entries {
		parts[i] = s.literal(e.Value)
		if e.Field != "" {
			parts[i] = e.Field + ": " + parts[i]
		}
		if e.Keyed {
			parts[i] = strconv.Quote(e.Key) + ": " + parts[i]
		}
	}
	return s.goType(&l.Of) + "{" + strings.Join(parts, ", ") + "}"
}
