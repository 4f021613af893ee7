package postgres

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task/internal/strangers"
)

func TestTSK17StrangersLearnNothing(t *testing.T) {
	strangers.Answered(t, openAt(t, newURL(t), Options{}))
}

// BenchmarkStrangers is the median of lookups of tasks of somebody else, and of tasks that there are not.
func BenchmarkStrangers(b *testing.B) { strangers.Benchmark(b, openAt(b, newURL(b), Options{})) }
