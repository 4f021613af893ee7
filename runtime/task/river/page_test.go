package river_test

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task/internal/pagetest"
)

func TestDAY07ThePageCompiles(t *testing.T) {
	pagetest.Compiles(t, pagetest.Program{
		Imports: []string{
			`"github.com/jackc/pgx/v5/pgxpool"`, `"github.com/riverqueue/river"`, `"github.com/riverqueue/river/riverdriver/riverpgxv5"`,
			`"github.com/mcpkiln/mcpkiln/runtime/task/postgres"`, `taskriver "github.com/mcpkiln/mcpkiln/runtime/task/river"`,
		},
		Given: "url string, pool *pgxpool.Pool",
	})
}
