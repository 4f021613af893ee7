package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task/internal/strangers"
)

func TestTSK17StrangersLearnNothing(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) { strangers.Answered(t, newStore(t, driver, file)) })
}

// BenchmarkStrangers is the median of lookups of tasks of somebody else, and of tasks that there are not.
func BenchmarkStrangers(b *testing.B) {
	for name, driver := range drivers {
		b.Run(name, func(b *testing.B) {
			strangers.Benchmark(b, newStore(b, driver, filepath.Join(b.TempDir(), "tasks.db")))
		})
	}
}
