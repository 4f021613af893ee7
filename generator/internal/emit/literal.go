package emit

import (
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// goLiteral is a default as Go source.
func goLiteral(l model.Literal) string {
	switch l := l.(type) {
	case model.Basic:
		return string(l)
	case model.RawText:
		return "check.Raw(" + quoted(string(l)) + ")"
	case model.NullLiteral:
		if l.Three {
			return "check.Null[" + goType(&l.Of) + "]()"
		}
		if l.Of.Hold == model.Maybe {
			return "check.Optional[" + goType(&l.Of) + "]{}"
		}
		return "nil"
	case *model.Some:
		return someLiteral(l)
	case *model.Convert:
		return l.To.Name + "(" + goLiteral(l.Value) + ")"
	case *model.Composite:
		return compositeLiteral(l)
	}
	return ""
}

func someLiteral(l *model.Some) string {
	typ, value := goType(&l.Of), goLiteral(l.Value)
	if l.Pointer {
		typ = "*" + typ
		value = "&" + strings.TrimPrefix(value, "&")
	}
	some := "check.Some[" + typ + "](" + value + ")"
	if !l.Three {
		return some
	}
	return "check.Nullable[" + typ + "]{Optional: " + some + "}"
}

func compositeLiteral(l *model.Composite) string {
	parts := make([]string, len(l.Entries))
	for i, e := range l.Entries {
		parts[i] = goLiteral(e.Value)
		if e.Field != "" {
			parts[i] = e.Field + ": " + parts[i]
		}
		if e.Keyed {
			parts[i] = strconv.Quote(e.Key) + ": " + parts[i]
		}
	}
	pointer := ""
	if l.Pointer {
		pointer = "&"
	}
	return pointer + goType(&l.Of) + "{" + strings.Join(parts, ", ") + "}"
}
