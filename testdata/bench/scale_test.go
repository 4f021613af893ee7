package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkCommand is how long `mcpkiln generate` takes where nothing was generated before. cpu-s is what the process computed.
func BenchmarkCommand(b *testing.B) {
	for _, tools := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("tools=%d", tools), func(b *testing.B) {
			p := newScaleProject(b, tools)
			p.measure(b, func() { p.remove("scale") }, p.generate)
		})
	}
}

// BenchmarkScale is the wait of those who have 1,000 tools with 10 fields each: to build all of it, to build after one tool has changed, and from
// the start of the process until the server exists. cpu-s is what all processes of a step computed together.
func BenchmarkScale(b *testing.B) {
	p := newScaleProject(b, 1000)
	b.Run("build", func(b *testing.B) {
		p.measure(b, func() { p.change(everyTool) }, p.build)
	})
	p.build() // nothing, unless build was not chosen
	b.Run("rebuild", func(b *testing.B) {
		p.measure(b, func() { p.change(len(p.edition) / 2) }, p.build)
	})
	b.Run("start", func(b *testing.B) {
		p.measure(b, func() {}, func() { p.run(filepath.Join(p.dir, "server")) })
	})
}

// measure runs step again and again, each time after prepare.
func (p *scaleProject) measure(b *testing.B, prepare, step func()) {
	var cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		prepare()
		p.cpu = 0
		b.StartTimer()
		step()
		cpu += p.cpu
	}
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
}

const everyTool = -1

// scaleProject is a module with a manifest, the package that is generated from it, and a program that makes the server.
type scaleProject struct {
	b       *testing.B
	dir     string
	mcpkiln string
	edition []int64       // of each tool: a new one makes the compiler forget the code of the tool
	cpu     time.Duration // of the programs that ran
}

// newScaleProject is a project of so many tools that has never been built. What it imports has.
func newScaleProject(b *testing.B, tools int) *scaleProject {
	root, err := filepath.Abs("../..")
	if err != nil {
		b.Fatal(err)
	}
	p := &scaleProject{b: b, dir: b.TempDir(), edition: make([]int64, tools)}
	p.mcpkiln = filepath.Join(p.dir, "mcpkiln")
	p.run("go", "build", "-C", root, "-o", p.mcpkiln, "./cmd/mcpkiln")
	p.write("go.mod", fmt.Sprintf("module example.com/scale\n\ngo 1.26.0\n\nrequire github.com/mcpkiln/mcpkiln v0.0.0\n\nreplace github.com/mcpkiln/mcpkiln => %s\n", root))
	p.write("main.go", scaleMain)
	p.change(everyTool)
	p.run("go", "build", "-mod=mod", "github.com/mcpkiln/mcpkiln/runtime/server")
	return p
}

const scaleMain = `package main

import "example.com/scale/scale"

type handlers struct{ scale.Handlers }

func main() {
	if _, err := scale.New(handlers{}); err != nil {
		panic(err)
	}
}
`

// change gives one tool, or every tool, a description that it never had, and generates.
func (p *scaleProject) change(which int) {
	now := time.Now().UnixNano()
	for i := range p.edition {
		if i == which || which == everyTool {
			p.edition[i] = now
		}
	}
	p.write("mcpkiln.yaml", scaleManifest(p.edition))
	p.generate()
}

func (p *scaleProject) generate() { p.run(p.mcpkiln, "generate") }

func (p *scaleProject) build() { p.run("go", "build", "-mod=mod", "-o", "server", ".") }

func (p *scaleProject) run(name string, args ...string) {
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		p.b.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	p.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func (p *scaleProject) write(name, content string) {
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o666); err != nil {
		p.b.Fatal(err)
	}
}

func (p *scaleProject) remove(name string) {
	if err := os.RemoveAll(filepath.Join(p.dir, name)); err != nil {
		p.b.Fatal(err)
	}
}

// scaleManifest has a tool of 10 fields for each edition: every fifth with a nested object, every fourth with an
// outputSchema.
func scaleManifest(editions []int64) string {
	var b bytes.Buffer
	b.WriteString("version: 1\nprotocol: {revisions: [\"2026-07-28\", \"2025-11-25\"]}\nserver: {name: scale, version: 1.0.0}\ngo: {package: scale, out: scale}\ntools:\n")
	for i, edition := range editions {
		fmt.Fprintf(&b, scaleTool, i, i, edition, 100+i)
		if i%5 == 0 {
			b.WriteString("        address: {type: object, required: [city], properties: {city: {type: string, minLength: 1}, zip: {type: string, pattern: \"^[0-9]{5}$\"}}}\n")
		} else {
			b.WriteString("        page: {type: integer, minimum: 0}\n")
		}
		if i%4 == 0 {
			b.WriteString("    outputSchema: {type: object, required: [done], properties: {done: {type: boolean}, count: {type: integer}}}\n")
		}
	}
	return b.String()
}

const scaleTool = `  tool_%04d:
    description: Does the work that has number %d (edition %d).
    inputSchema:
      type: object
      required: [id, kind, quantity]
      additionalProperties: false
      properties:
        id: {type: string, pattern: "^[a-z]{3}_[0-9]+$", maxLength: 40}
        kind: {type: string, enum: [alpha, beta, gamma]}
        quantity: {type: integer, minimum: 1, maximum: %d}
        ratio: {type: number, exclusiveMinimum: 0}
        note: {type: string, maxLength: 200}
        urgent: {type: boolean, default: false}
        due: {type: string, format: date-time}
        labels: {type: array, items: {type: string, minLength: 1}, maxItems: 20}
        cursor: {type: string}
`
