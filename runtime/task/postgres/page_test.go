package postgres_test

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task/internal/pagetest"
)

func TestDAY07ThePageCompiles(t *testing.T) {
	pagetest.Compiles(t, pagetest.Program{Imports: []string{`"log/slog"`, `"github.com/mcpkiln/mcpkiln/runtime/task/postgres"`}})
}
