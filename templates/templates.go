// Package templates holds what is mostly prose: the generated package's doc and the stubs of handlers. Whatever has
// types, branches or imports is emitted as code by generator/internal/emit; templates here range and test, no more.
// It is for those who change what init writes, or a text of generated packages.
package templates

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed *.tmpl
var files embed.FS

// Execute fills the template of that name (package.tmpl, handlers.tmpl, handler.tmpl, cancel_test.tmpl) with data.
func Execute(name string, data any) (string, error) {
	t, err := template.ParseFS(files, name)
	if err != nil {
		return "", fmt.Errorf("templates: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("templates: %w", err)
	}
	return b.String(), nil
}
