// Command table makes the tables of the README beside it from what `go test -bench` printed, in as many rounds as there were:
//
//	go run ./table -o README.md RESULTS
//
// A cell is the median of the rounds. Where mcpkiln runs beside others, theirs says in brackets how many times as long they took; where only
// a floor is beside it, the other cells say so of the floor.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// section is a table: the benchmarks of one function, or of several that have the same columns.
type section struct {
	title      string
	benchmarks []string // PACKAGE/NAME
	mean       string   // the contestant whose geometric mean over all rows is a row, or ""
}

var sections = []section{
	{title: "tools/call on a pipe, arguments and result validated", benchmarks: []string{"bench/CallPipe"}},
	{title: "The same, the server as a child process on stdio", benchmarks: []string{"bench/CallChild"}},
	{title: "The same on a pipe, from a call's frame to its answer", benchmarks: []string{"bench/Latency"}},
	{title: "A call over HTTP beside net/http with an answer by hand", benchmarks: []string{"streamhttp/Call"}},
	{title: "Large results: structured (report), and made by the handler (page), on a pipe", benchmarks: []string{"bench/ResultPipe"}},
	{title: "The same from a child process", benchmarks: []string{"bench/ResultChild"}},
	{title: "The same over HTTP", benchmarks: []string{"streamhttp/Result"}},
	{title: "A typed call of a generated client, beside other clients of the same server, on a pipe", benchmarks: []string{"bench/ClientPipe"}},
	{title: "The same on pipes of the operating system", benchmarks: []string{"bench/ClientStdio"}},
	{title: "From a cancel notification to the end of the context, with so many requests in flight", benchmarks: []string{"bench/Cancel"}},
	{title: "A task from its creation to its result", benchmarks: []string{"bench/Task"}},
	{title: "Memory that is held for each of 20,000 calls that wait, sessions over HTTP without a request, and tasks that are finished", benchmarks: []string{"bench/Held"}},
	{title: "Decoding and validating, as clients spell their arguments; the others only decode", benchmarks: []string{"bench/Forms", "bench/FormsOfChoices"}, mean: "goccy"},
	{title: "Decoding and validating, beside code by hand, decoders that do not validate, and validators on top of encoding/json", benchmarks: []string{"bench/Decode"}},
	{title: "Refusing what is wrong", benchmarks: []string{"bench/Reject"}},
	{title: "Telling 10,000 listeners: a resource that one follows, a list that all do, and how long their list is locked for it", benchmarks: []string{"server/Listeners"}},
	{title: "Registering a request and retiring it", benchmarks: []string{"inflight/RegisterRetire", "inflight/RegisterRetireParallel"}},
	{title: "Generating a server in memory", benchmarks: []string{"generator/Generate"}},
	{title: "The same as a command", benchmarks: []string{"bench/Command"}},
	{title: "1,000 tools: go build, the same after one changed tool, start-up", benchmarks: []string{"bench/Scale"}},
}

// ours and floor are the contestants that others are compared with, in this order.
const ours, floor = "mcpkiln", "floor"

func main() {
	log.SetFlags(0)
	log.SetPrefix("table: ")
	out := flag.String("o", "", "file whose part between the marks becomes the tables; without it they are printed")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: table [-o FILE] RESULTS")
	}
	if err := run(flag.Arg(0), *out); err != nil {
		log.Fatal(err)
	}
}

func run(results, out string) error {
	f, err := os.Open(results)
	if err != nil {
		return err
	}
	defer f.Close()
	measured, err := read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", results, err)
	}
	tables, err := measured.tables()
	if err != nil {
		return fmt.Errorf("%s: %w", results, err)
	}
	if out == "" {
		_, err = os.Stdout.Write(tables)
		return err
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	if text, err = between(text, tables); err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	return os.WriteFile(out, text, 0o644)
}

// begin and end mark the part of a file that the tables replace.
const begin, end = "<!-- tables -->\n", "<!-- end of the tables -->\n"

func between(text, tables []byte) ([]byte, error) {
	head, tail, ok := bytes.Cut(text, []byte(begin))
	_, tail, closed := bytes.Cut(tail, []byte(end))
	if !ok || !closed {
		return nil, fmt.Errorf("has no lines %q and %q between which the tables could stand", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return slices.Concat(head, []byte(begin), tables, []byte(end), tail), nil
}

// results are the benchmarks of all rounds, in the order in which they first came.
type results struct {
	names []string                        // PACKAGE/NAME/…, without the number of processors
	of    map[string]map[string][]float64 // by name and unit
}

var lineOfResult = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

func read(r io.Reader) (*results, error) {
	all := &results{of: map[string]map[string][]float64{}}
	pkg := ""
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "pkg: "); ok {
			pkg = path.Base(name)
			continue
		}
		m := lineOfResult.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		name := pkg + "/" + m[1]
		if all.of[name] == nil {
			all.names = append(all.names, name)
			all.of[name] = map[string][]float64{}
		}
		fields := strings.Fields(m[2])
		for i := 0; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", lines.Text(), err)
			}
			all.of[name][fields[i+1]] = append(all.of[name][fields[i+1]], v)
		}
	}
	return all, lines.Err()
}

// median returns the median of a benchmark in a unit, or NaN if it has none.
func (r *results) median(name, unit string) float64 {
	values := slices.Sorted(slices.Values(r.of[name][unit]))
	switch n := len(values); {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return values[n/2]
	default:
		return (values[n/2-1] + values[n/2]) / 2
	}
}

// tables returns all sections. One that was not measured is an error, since its table would be lost.
func (r *results) tables() ([]byte, error) {
	var b bytes.Buffer
	for _, s := range sections {
		rows := r.rows(s)
		if len(rows) == 0 {
			return nil, fmt.Errorf("has no result of %s: run the benchmarks of all packages", strings.Join(s.benchmarks, " or "))
		}
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		r.table(&b, s, rows)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// row is what stands side by side: the contestants of one piece of work, or one benchmark that has none beside it.
type row struct {
	name    string
	unit    string   // "ns/op", a quantile, or what memory it is
	columns []string // of the contestants; nil without
	prefix  string   // of the benchmarks' names, which end with a contestant; the whole name without
}

func (r *results) rows(s section) []row {
	var rows []row
	for _, name := range r.names {
		pkg, rest, _ := strings.Cut(name, "/")
		function, work, _ := strings.Cut(rest, "/")
		if !slices.Contains(s.benchmarks, pkg+"/"+function) {
			continue
		}
		prefix, contestant := path.Split(name)
		w, columns := row{name: work, prefix: name}, []string(nil)
		if r.of[prefix+ours] != nil || r.of[prefix+floor] != nil {
			w, columns = row{name: strings.TrimSuffix(strings.TrimSuffix(work, contestant), "/"), prefix: prefix}, []string{contestant}
		}
		if w.name == "" {
			w.name = function
		}
		for _, w.unit = range r.units(name) {
			if i := slices.IndexFunc(rows, func(o row) bool { return o.prefix == w.prefix && o.unit == w.unit }); i >= 0 {
				rows[i].columns = append(rows[i].columns, columns...)
				continue
			}
			w.columns = slices.Clone(columns)
			rows = append(rows, w)
		}
	}
	return rows
}

// units returns the quantiles or kinds of memory that a benchmark reports, or ns/op.
func (r *results) units(name string) []string {
	var units []string
	for unit := range r.of[name] {
		if strings.HasSuffix(unit, "-ns") || strings.HasSuffix(unit, "-B") {
			units = append(units, unit)
		}
	}
	if units == nil {
		return []string{"ns/op"}
	}
	slices.SortFunc(units, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(a, "-ns"), strings.TrimSuffix(b, "-ns"))
	})
	return units
}

func (r *results) table(b io.Writer, s section, rows []row) {
	var columns []string
	for _, w := range rows {
		for _, c := range w.columns {
			if !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	head := columns
	if columns == nil {
		head = []string{"time", "allocations"}
	}
	fmt.Fprintf(b, "| work | %s |\n|---|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	var logs float64
	for _, w := range rows {
		name := w.name
		if w.unit != "ns/op" {
			kind, _, _ := strings.Cut(w.unit, "-")
			name += ", " + kind
		}
		fmt.Fprintf(b, "| %s |", name)
		if columns == nil {
			fmt.Fprintf(b, " %s | %s |\n", duration(r.median(w.prefix, w.unit)), count(r.median(w.prefix, "allocs/op")))
			continue
		}
		for _, c := range columns {
			fmt.Fprintf(b, " %s |", r.cell(w, c))
		}
		fmt.Fprintln(b)
		if s.mean != "" {
			logs += math.Log(r.median(w.prefix+s.mean, w.unit) / r.median(w.prefix+ours, w.unit))
		}
	}
	if s.mean != "" {
		fmt.Fprintf(b, "\nThe geometric mean of %s's ratios is %.2f.\n", s.mean, math.Exp(logs/float64(len(rows))))
	}
}

// cell is a contestant's median, with its ratio to what the row is compared with.
func (r *results) cell(w row, contestant string) string {
	v := r.median(w.prefix+contestant, w.unit)
	if math.IsNaN(v) {
		return "–"
	}
	base := ours
	if r.of[w.prefix+ours] == nil {
		base = floor
	}
	if of := r.median(w.prefix+base, w.unit); contestant != base && of > 0 {
		return fmt.Sprintf("%s (%.2f)", quantity(v, w.unit), v/of)
	}
	if w.unit == "ns/op" && base == ours {
		return duration(v) + ", " + count(r.median(w.prefix+ours, "allocs/op")) + " allocations"
	}
	return quantity(v, w.unit)
}

// quantity writes bytes or nanoseconds.
func quantity(v float64, unit string) string {
	if !strings.HasSuffix(unit, "-B") {
		return duration(v)
	}
	if v >= 1e3 {
		return digits(v/1e3) + " kB"
	}
	return strconv.FormatFloat(v, 'f', 0, 64) + " B"
}

// duration writes nanoseconds with three digits.
func duration(ns float64) string {
	for _, u := range []struct {
		of   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.of {
			return digits(ns/u.of) + " " + u.name
		}
	}
	return digits(ns) + " ns"
}

func digits(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

func count(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
