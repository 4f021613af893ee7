package uritemplate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

// Template is a URI template that can be matched. It is read-only.
type Template struct {
	text  string
	parts []part
	vars  []Variable
	query int // index of the first variable of the query; len(vars) without one
}

// part is a text or, where that is empty, a variable outside of the query.
type part struct {
	text string
	v    int
}

// Variable is one variable of a template.
type Variable struct {
	Name string
	// Reserved: its values may have characters that URIs reserve, such as a slash.
	Reserved bool
	// Query: it is in the query, and may be absent.
	Query bool
	// List: it may be there several times.
	List bool
}

// Error says why a text is no template that can be matched.
type Error struct {
	Why string
	// Instead is what to write, "" where nothing is known.
	Instead string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Instead == "" {
		return e.Why
	}
	return e.Why + ": " + e.Instead
}

func wrong(instead, format string, args ...any) *Error {
	return &Error{Why: fmt.Sprintf(format, args...), Instead: instead}
}

// Parse reads a template. Its error is an *Error.
func Parse(text string) (*Template, error) {
	t := &Template{text: text, query: -1}
	for rest := text; rest != ""; {
		literal, expression, found := strings.Cut(rest, "{")
		if err := t.literal(literal); err != nil {
			return nil, err
		}
		if !found {
			break
		}
		inner, after, closed := strings.Cut(expression, "}")
		if !closed {
			return nil, wrong("", "{%s is not closed", expression)
		}
		if t.query >= 0 {
			return nil, wrong("write one {?…} at the end", "{%s} follows the query", inner)
		}
		if err := t.expression(inner); err != nil {
			return nil, err
		}
		rest = after
	}
	if t.query < 0 {
		t.query = len(t.vars)
	}
	if err := t.matchable(); err != nil {
		return nil, err
	}
	return t, nil
}

// String is the text of the template.
func (t *Template) String() string { return t.text }

// Variables are the variables in their order. The slice is shared: change nothing of it.
func (t *Template) Variables() []Variable { return t.vars }

var uriText = lazyregexp.New(`^(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$`)

func (t *Template) literal(text string) error {
	switch {
	case text == "":
		return nil
	case strings.Contains(text, "}"):
		return wrong("", "} closes nothing")
	case t.query >= 0:
		return wrong("write {?…} at the end", "%q follows the query", text)
	case !uriText().MatchString(text):
		return wrong("write other characters as %20", "%q has a character that a URI can not have", text)
	}
	t.parts = append(t.parts, part{text: text})
	return nil
}

var varName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expression reads what is between braces.
func (t *Template) expression(inner string) error {
	operator, names := "", inner
	if inner != "" && strings.Contains("+#./;?&=,!@|", inner[:1]) {
		operator, names = inner[:1], inner[1:]
	}
	if err := refused(operator, names); err != nil {
		return err
	}
	list := strings.Split(names, ",")
	if operator == "?" {
		t.query = len(t.vars)
	} else if len(list) > 1 {
		return wrong("write {"+operator+strings.Join(list, "},{"+operator)+"}", "{%s} has several variables outside of a query", inner)
	}
	for _, name := range list {
		if err := t.variable(operator, name); err != nil {
			return err
		}
	}
	return nil
}

// refused names the operators that are not read.
func refused(operator, names string) error {
	switch operator {
	case "", "+", "?":
		return nil
	case "#", ".", "/":
		if !strings.ContainsAny(names, ",*:") {
			return wrong("write "+operator+"{"+names+"}", "{%s%s} is a form that is not read", operator, names)
		}
	case "&", ";":
		return wrong("write {?"+names+"} at the end", "{%s%s} is a form that is not read", operator, names)
	}
	return wrong("write {var}, {+path} or {?a,b*}", "{%s%s} is a form that is not read", operator, names)
}

func (t *Template) variable(operator, name string) error {
	v := Variable{Reserved: operator == "+", Query: operator == "?"}
	v.Name, v.List = strings.CutSuffix(name, "*")
	short, _, prefix := strings.Cut(v.Name, ":")
	switch {
	case prefix:
		return wrong("write {"+operator+short+"}", "{%s%s} is only the beginning of a value, which can not be matched", operator, name)
	case v.List && !v.Query:
		return wrong("write {"+operator+v.Name+"}, or {?"+name+"} at the end", "{%s%s} is a list outside of a query", operator, name)
	case !varName().MatchString(v.Name):
		return wrong("use letters, digits and _", "%q can not be the name of a variable", v.Name)
	case slices.ContainsFunc(t.vars, func(o Variable) bool { return o.Name == v.Name }):
		return wrong("", "the variable %s is there twice", v.Name)
	}
	if !v.Query {
		t.parts = append(t.parts, part{v: len(t.vars)})
	}
	t.vars = append(t.vars, v)
	return nil
}

var scheme = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// matchable refuses templates of which a URI has several readings.
func (t *Template) matchable() error {
	switch {
	case len(t.parts) == 0 || !scheme().MatchString(t.parts[0].text):
		return wrong("begin with one, such as docs://", "a template has to begin with a scheme")
	case len(t.vars) == 0:
		return wrong("{var} is one", "the template has no variable")
	case t.query < len(t.vars) && slices.ContainsFunc(t.parts, func(p part) bool { return strings.Contains(p.text, "?") }):
		return wrong("write all of the query as {?…}", "the query begins twice")
	}
	last := "" // variable before, with nothing reserved after it so far
	for i, p := range t.parts {
		if p.text != "" {
			if strings.ContainsAny(p.text, reserved) {
				last = ""
			}
			continue
		}
		v := t.vars[p.v]
		if last != "" {
			return wrong("put a character such as / between them", "nothing tells where %s ends and %s begins", last, v.Name)
		}
		if v.Reserved && slices.ContainsFunc(t.parts[i+1:], func(p part) bool { return p.text == "" }) {
			return wrong("put {+"+v.Name+"} behind the other variables", "nothing tells where {+%s} ends: variables follow it", v.Name)
		}
		last = v.Name
	}
	return nil
}

// reserved are the characters that delimit in a URI (RFC 3986).
const reserved = ":/?#[]@!$&'()*+,;="
