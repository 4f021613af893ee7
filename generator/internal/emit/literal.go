package emit

import (
	"go/scanner"
	"go/token"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// literal is goLiteral for files that jennifer writes: it has to see the package check to import it.
func literal(l model.Literal) *jen.Statement {
	src := []byte(goLiteral(l))
	var s scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	s.Init(file, src, nil, 0)
	code, done := &jen.Statement{}, 0
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return code.Op(string(src[done:]))
		}
		if at := file.Offset(pos); tok == token.IDENT && text == "check" {
			_, _, _ = s.Scan() // the point
			_, _, name := s.Scan()
			code.Op(string(src[done:at])).Qual(checkPath, name)
			done = at + len("check.") + len(name)
		}
	}
}

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
