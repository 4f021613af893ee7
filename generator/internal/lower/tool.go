package lower

import (
	"fmt"
	"strings"
	"sync"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// tools lowers every tool in the manifest's order. A tool whose name is taken is left out: takeHandler has reported it. The names of all tools are taken
// before the first type is named.
func (l *packageLowering) tools() {
	byMethod := make(map[string]*manifest.Tool)
	var sources []*manifest.Tool
	for i := range l.in.Manifest.Tools {
		t := &l.in.Manifest.Tools[i]
		name := methodName("", t.Name, t.GoName)
		if !l.takeHandler(name, named{what: fmt.Sprintf("tool %q", t.Name), pos: t.Pos, node: t.Node, goName: t.GoName}) {
			continue
		}
		byMethod[name] = t
		sources = append(sources, t)
		l.pkg.Tools = append(l.pkg.Tools, l.newTool(t, name))
	}
	l.refuseResumeClashes(byMethod) // a client has a method ResumeX for a tool X that may be a task
	shown := make([]advertisement, len(sources))
	var wg sync.WaitGroup
	wg.Go(func() {
		for i, t := range sources {
			shown[i] = advertise(t)
		}
	})
	for i, t := range sources {
		l.tool(t, l.pkg.Tools[i])
	}
	wg.Wait()
	for i, tool := range l.pkg.Tools {
		tool.Definition, tool.Execution = shown[i].definition, shown[i].execution
		l.checkHeaders(tool.Name, shown[i].input, shown[i].output)
	}
}

// advertisement is what tools/list shows of a tool: its definition, and separately the member execution, which not every revision has.
type advertisement struct {
	definition, execution string
	input, output         *schema.Node
}

// advertise depends on no other tool and runs concurrently with lowering.
func advertise(t *manifest.Tool) advertisement {
	definition, execution := t.Advertised()
	a := advertisement{definition: typing.EscapeInvisible(string(definition.JSON())), input: definition.Get("inputSchema"), output: definition.Get("outputSchema")}
	if execution != nil {
		a.execution = typing.EscapeInvisible(string(execution.JSON()))
	}
	return a
}

// newTool makes the tool with its names and those of its questions.
func (l *packageLowering) newTool(t *manifest.Tool, goName string) *model.Tool {
	tool := &model.Tool{Name: t.Name, GoName: goName}
	if l.in.Client.Name != "" {
		tool.Var = l.types.Names.Take(naming.Unexported(goName) + "Tool")
	}
	if l.in.Client.Alone {
		return tool
	}
	tool.Asker = l.asker(t.Name, goName, t.Elicitations)
	return tool
}

// tool fills in everything but names and advertisement.
func (l *packageLowering) tool(t *manifest.Tool, tool *model.Tool) {
	tool.Doc = textLines(t.Description.Value)
	hidden := hiddenOf(t.Input, t.Output)
	tool.Input = l.input(typing.Root{Document: t.Input, Name: tool.GoName + "Input", DefsPrefix: tool.GoName, Hidden: hidden,
		Doc: []string{tool.GoName + "Input is what " + t.Name + " is called with."}})
	if t.Output != nil {
		out := l.output(typing.Root{Document: t.Output, Name: tool.GoName + "Output", DefsPrefix: tool.GoName, Hidden: hidden,
			Doc: []string{tool.GoName + "Output is what " + t.Name + " answers."}})
		tool.Output = &out
	} else {
		l.types.Names.Take(tool.GoName + "Output") // for an outputSchema that it may get later
	}
	tool.Cancel, tool.Task = l.policies(t)
	if l.in.Client.Alone {
		return
	}
	tool.MaxConcurrent = t.Execution.MaxConcurrent
	inline := tool.Task.Support != model.TaskRequired
	l.questions(&tool.Asker, tool.GoName, t.Elicitations, inline)
	l.clientCapabilities(&tool.Asker, t.ClientCapabilities)
	tool.Policy = l.policySentences(tool)
}

// textLines splits a text of the manifest into lines; the empty text has none.
func textLines(text string) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
