package client

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"
)

// Generation ties a generated client to this runtime when it is compiled, see server.Generation.
type Generation int

// Generation1 is the generation of this runtime. If it is undefined, upgrade the module github.com/mcpkiln/mcpkiln.
const Generation1 Generation = 1

// Difference is a difference between a server's tool and what a generated client knows of it.
type Difference struct {
	Tool string
	What string // "inputSchema differs at /properties/symbol/maxLength: 8 is known, the server has 16"
}

// Expect sets the tools that a generated client knows, by their definitions. They are compared with those of the server: before
// the first call of a generated client, and those of a list whenever one is read. The first difference of each schema is logged once as a warning, and
// passed to Handlers.ToolDiffers; calls go on. Descriptions, titles and examples are not compared. A later definition of a tool takes the place of an
// earlier one. A client of another generation than Generation1 is logged as an error.
func (s *Session) Expect(g Generation, definitions ...string) {
	if g != Generation1 {
		s.cfg.logger.Error("the client was generated for another runtime: run mcpkiln generate again", "generation", g, "runtime", Generation1)
	}
	e := &s.expected
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tools == nil {
		e.tools, e.reported = map[string]*definition{}, map[Difference]bool{}
	}
	for _, text := range definitions {
		known := readDefinition([]byte(text))
		if before, ok := e.tools[known.Name]; !ok || !reflect.DeepEqual(before, known) {
			e.compared = false
		}
		e.tools[known.Name] = known
	}
}

// expected is what a generated client knows of its server.
type expected struct {
	mu       sync.Mutex
	tools    map[string]*definition // by name
	compared bool                   // the comparison has at least begun
	reported map[Difference]bool
}

func (e *expected) get(tool string) *definition {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tools[tool]
}

// due sets compared, and returns true if that was not set and there are tools to compare.
func (e *expected) due() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	due := !e.compared && len(e.tools) > 0
	e.compared = true
	return due
}

// retry has the next call compare the list again.
func (e *expected) retry() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.compared = false
}

// compareTools reads the server's list of tools, the first time, so that differences are known before they matter. If the list can not be read, the
// call goes on. It also goes on after the time of one request, or half of the call's maximum, because the server decides how long its list is. It returns
// the options of the call, and one by which that time counts in its maximum.
func (s *Session) compareTools(ctx context.Context, opts []CallOption) []CallOption {
	if !s.expected.due() {
		return opts
	}
	began := time.Now()
	s.compareList(ctx, opts)
	return slices.Concat(opts, []CallOption{after(time.Since(began))})
}

func (s *Session) compareList(ctx context.Context, opts []CallOption) {
	c := callConfig{timeout: s.cfg.timeout, maxTime: s.cfg.maxTime}
	for _, o := range opts {
		o(&c)
	}
	within, most := ctx, c.timeout
	if half := c.maxTime / 2; half > 0 && (most <= 0 || half < most) {
		most = half
	}
	if most > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, most)
		defer cancel()
	}
	has := map[string]bool{}
	for text, err := range s.ListTools(within) {
		switch {
		case err != nil && ctx.Err() != nil:
			s.expected.retry()
			return
		case err != nil:
			s.cfg.logger.Warn("the server's tools can not be compared with those of the generated client", "error", err)
			return
		}
		has[s.compare(readDefinition(text))] = true
	}
	for _, name := range s.expected.names() {
		if !has[name] {
			s.differs(Difference{Tool: name, What: "the server has no such tool"})
		}
	}
}

func (e *expected) names() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []string
	for name := range e.tools {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// compare reports differences between the server's tool and what is known of it. It returns the tool's name.
func (s *Session) compare(tool *definition) string {
	known := s.expected.get(tool.Name)
	if known == nil {
		return tool.Name
	}
	if d := firstDifference("", known.InputSchema, tool.InputSchema); d != "" {
		s.differs(Difference{tool.Name, "inputSchema differs at " + d})
	}
	if !s.HasOutputSchemas() {
		return tool.Name
	}
	if d := firstDifference("", known.OutputSchema, tool.OutputSchema); d != "" {
		s.differs(Difference{tool.Name, "outputSchema differs at " + d})
	}
	return tool.Name
}

// maxDifferences is how many differences are reported. A server could have new ones every time.
const maxDifferences = 1000

// differs reports a difference, once.
func (s *Session) differs(d Difference) {
	e := &s.expected
	e.mu.Lock()
	reported := e.reported[d] || len(e.reported) >= maxDifferences
	if !reported {
		if e.reported == nil {
			e.reported = map[Difference]bool{}
		}
		e.reported[d] = true
	}
	e.mu.Unlock()
	if reported {
		return
	}
	s.cfg.logger.Warn("the server's tool is not the one that the client was generated for", "tool", d.Tool, "difference", d.What)
	if s.cfg.handlers.ToolDiffers != nil {
		s.cfg.handlers.ToolDiffers(d)
	}
}
