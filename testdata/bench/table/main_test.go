package main

import (
	"strings"
	"testing"
)

const twoRounds = `goos: linux
pkg: example.com/some/bench
BenchmarkCall/small/floor-2      	 10	 100 ns/op	 0 B/op	 0 allocs/op
BenchmarkCall/small/mcpkiln-2    	 10	 200 ns/op	 8 B/op	 2 allocs/op
BenchmarkCall/small/peer-2       	 10	 3000 ns/op	 8 B/op	 9 allocs/op
BenchmarkCall/large/mcpkiln-2    	 10	 2000000 ns/op	 8 B/op	 2 allocs/op
BenchmarkLatency/mcpkiln-2       	 10	 500 p50-ns	 9000 p99-ns	 900 ns/op
BenchmarkHeld/call/mcpkiln-2     	  1	 2048 heap-B	 8192 stack-B
BenchmarkHeld/call/peer-2        	  1	 512 heap-B	 8192 stack-B
BenchmarkHeld/session/mcpkiln-2  	  1	 2048 heap-B	 0 stack-B
BenchmarkHeld/session/peer-2     	  1	 4096 heap-B	 2048 stack-B
BenchmarkHTTP/n=1/floor-2        	 10	 100 ns/op
BenchmarkHTTP/n=1/2025-11-25-2   	 10	 150 ns/op
BenchmarkAlone/deep/er-2         	 10	 7 ns/op	 0 B/op	 1 allocs/op
ok  	example.com/some/bench	1.0s
pkg: example.com/other/bench2
BenchmarkCall/small/mcpkiln-2    	 10	 1 ns/op
pkg: example.com/some/bench
BenchmarkCall/small/floor-2      	 10	 200 ns/op	 0 B/op	 0 allocs/op
BenchmarkCall/small/mcpkiln-2    	 10	 400 ns/op	 8 B/op	 2 allocs/op
BenchmarkCall/small/peer-2       	 10	 6000 ns/op	 8 B/op	 9 allocs/op
`

func TestTableOfTwoRounds(t *testing.T) {
	r, err := read(strings.NewReader(twoRounds))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of   section
		want string
	}{
		{section{benchmarks: []string{"bench/Call"}}, `| work | floor | mcpkiln | peer |
|---|---|---|---|
| small | 150 ns (0.50) | 300 ns, 2 allocations | 4.50 µs (15.00) |
| large | – | 2.00 ms, 2 allocations | – |
`},
		{section{benchmarks: []string{"bench/Latency"}}, `| work | mcpkiln |
|---|---|
| Latency, p50 | 500 ns |
| Latency, p99 | 9.00 µs |
`},
		{section{benchmarks: []string{"bench/Held"}}, `| work | mcpkiln | peer |
|---|---|---|
| call, heap | 2.05 kB | 512 B (0.25) |
| call, stack | 8.19 kB | 8.19 kB (1.00) |
| session, heap | 2.05 kB | 4.10 kB (2.00) |
| session, stack | 0 B | 2.05 kB |
`},
		{section{benchmarks: []string{"bench/HTTP"}}, `| work | floor | 2025-11-25 |
|---|---|---|
| n=1 | 100 ns | 150 ns (1.50) |
`},
		{section{benchmarks: []string{"bench/Alone"}}, `| work | time | allocations |
|---|---|---|
| deep/er | 7.00 ns | 1 |
`},
	} {
		var b strings.Builder
		r.table(&b, c.of, r.rows(c.of))
		if got := b.String(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.of.benchmarks, got, c.want)
		}
	}
}

func TestTableOfTheGeometricMean(t *testing.T) {
	r, err := read(strings.NewReader(`pkg: bench
BenchmarkForms/a/mcpkiln-2	1	100 ns/op
BenchmarkForms/a/goccy-2	1	400 ns/op
BenchmarkForms/b/mcpkiln-2	1	100 ns/op
BenchmarkForms/b/goccy-2	1	100 ns/op
`))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	s := section{benchmarks: []string{"bench/Forms"}, mean: "goccy"}
	r.table(&b, s, r.rows(s))
	if !strings.Contains(b.String(), "The geometric mean of goccy's ratios is 2.00.") {
		t.Error(b.String())
	}
}

func TestTablesOfAPartAreRefused(t *testing.T) {
	r, err := read(strings.NewReader(twoRounds))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.tables(); err == nil || !strings.Contains(err.Error(), "bench/CallPipe") {
		t.Errorf("tables of a part of the benchmarks: %v", err)
	}
}

func TestTablesReplaceWhatStandsBetweenTheMarks(t *testing.T) {
	got, err := between([]byte("head\n"+begin+"old\n"+end+"tail\n"), []byte("new\n"))
	if want := "head\n" + begin + "new\n" + end + "tail\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := between([]byte("head\n"+begin+"old\n"), nil); err == nil {
		t.Error("a file without the second mark was taken")
	}
}
