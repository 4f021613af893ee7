package emit

import "github.com/mcpkiln/mcpkiln/templates"

// Stub is the data of a stub's template. Qualifier is the generated package with its dot, or empty.
type Stub struct {
	Package, Type, Import, Qualifier string

	Method, Tool, Call, Input, Output string // of one tool
	Imports                           []string
	Unwritten                         string
	Arguments                         string // Go string literal with the arguments as JSON
	AlwaysTask                        bool
}

// StubFile fills handlers.tmpl, handler.tmpl or cancel_test.tmpl.
func StubFile(template string, s Stub) ([]byte, error) {
	text, err := templates.Execute(template, s)
	if err != nil {
		return nil, err
	}
	return formatSource([]byte(text))
}
