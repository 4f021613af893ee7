package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// size is a text that tools answer, and the results that a server by hand has prepared.
type size struct {
	name              string
	text              string
	structured, plain string
}

var sizes = []size{newSize("100B", 100), newSize("20kB", 20_000), newSize("1MB", 1_000_000)}

func newSize(name string, n int) size {
	s := size{name: name, text: prose(n)}
	text := marshal(s.text)
	output := marshal(sdkText{s.text})
	s.structured = `{"content":[{"type":"text","text":` + marshal(output) + `}],"structuredContent":` + output + `}`
	s.plain = `{"content":[{"type":"text","text":` + text + `}]}`
	return s
}

func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// prose is n bytes in lines of words, some of them in quotes.
func prose(n int) string {
	words := []string{"report ", "of ", "the ", "quarter: ", "orders ", "grew ", "by ", "12.5 ", "percent\n", "\"pending\" ", "in ", "all ", "regions, "}
	r := rand.New(rand.NewPCG(uint64(n), 15))
	var text []byte
	for len(text) < n {
		text = append(text, words[r.IntN(len(words))]...)
	}
	return string(text[:n])
}

func textOf(n int) string {
	for i := range sizes {
		if len(sizes[i].text) == n {
			return sizes[i].text
		}
	}
	panic(fmt.Sprintf("no text has %d bytes", n))
}

// args is how a call of the tool ends.
func (s *size) args(tool string) []byte {
	return fmt.Appendf(nil, `{"name":"%s","arguments":{"bytes":%d}}}`, tool, len(s.text))
}

// BenchmarkResultPipe is a call of a tool whose result has so many bytes, as structured content (which goes out twice, as text, too) or in a
// result that the handler makes.
func BenchmarkResultPipe(b *testing.B) { benchmarkResult(b, dialPipe) }

// BenchmarkResultChild is the same with the server as a child process on stdio.
func BenchmarkResultChild(b *testing.B) { benchmarkResult(b, dialChild) }

func benchmarkResult(b *testing.B, dial func(*testing.B, string) *link) {
	for _, tool := range []string{"report", "page"} {
		for i := range sizes {
			s := &sizes[i]
			params := s.args(tool)
			for _, name := range []string{"floor", "mcpkiln", "go-sdk", "mcp-go"} {
				b.Run(tool+"/"+s.name+"/"+name, func(b *testing.B) {
					dial(b, name).window(1, string(params[:len(params)-1]))
				})
			}
		}
	}
}

// BenchmarkLatency is how long a validated call takes with n in flight, from its frame to its answer.
func BenchmarkLatency(b *testing.B) {
	for _, n := range []int{1, 64, 1000} {
		for _, name := range order {
			if n == 1000 && strings.HasPrefix(name, "mcp-go") {
				continue // it stops reading where so many answers are not read yet, and this client reads none before it has sent all
			}
			b.Run(inFlight(n)+"/"+name, func(b *testing.B) {
				dialPipe(b, name).latency(n, placeOrder)
			})
		}
	}
}

// latency keeps n calls in flight until b.N are answered, and reports quantiles of the time that each took.
func (l *link) latency(n int, params string) {
	var frame []byte
	began := make([]time.Time, l.b.N+1)
	took := make([]time.Duration, 0, l.b.N)
	sent := 0
	next := func() {
		sent++
		frame = call(frame, sent, params)
		began[sent] = time.Now()
		l.send(frame)
	}
	l.b.ResetTimer()
	for sent < min(n, l.b.N) {
		next()
	}
	for len(took) < l.b.N {
		id, ok := responseID(l.response())
		if !ok {
			l.b.Fatal("an answer has no id")
		}
		took = append(took, time.Since(began[id]))
		if sent < l.b.N {
			next()
		}
	}
	l.b.StopTimer()
	slices.Sort(took)
	for _, q := range []struct {
		name  string
		share float64
	}{{"p50-ns", 0.5}, {"p99-ns", 0.99}, {"p99.9-ns", 0.999}} {
		l.b.ReportMetric(float64(took[int(q.share*float64(len(took)))].Nanoseconds()), q.name)
	}
}

// responseID reads the id of an answer, which is a number.
func responseID(line []byte) (id int, ok bool) {
	_, rest, _ := bytes.Cut(line, []byte(`"id":`))
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		id, ok = 10*id+int(c-'0'), true
	}
	return id, ok
}
