package sqlite_test

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task/internal/pagetest"
)

func TestDAY07ThePageCompiles(t *testing.T) {
	pagetest.Compiles(t, pagetest.Program{Imports: []string{`"database/sql"`, `"github.com/mcpkiln/mcpkiln/runtime/task/sqlite"`}})
}
