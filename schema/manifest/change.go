package manifest

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// Class is how grave a change of a manifest is.
type Class string

// The classes, the gravest first.
const (
	Breaking      Class = "breaking"      // code of callers or handlers, or open tasks, may fail
	AskAgain      Class = "ask-again"     // clients that pin definitions ask their user again
	Compatible    Class = "compatible"    // nobody has to do anything
	Documentation Class = "documentation" // only people read it
)

// Classes are all classes, the gravest first.
var Classes = []Class{Breaking, AskAgain, Compatible, Documentation}

// Axis says for whom a change matters.
type Axis string

// The axes.
const (
	Callers  Axis = "callers"  // clients and models that call tools
	Handlers Axis = "handlers" // Go code beside the generated package
	Wire     Axis = "wire"     // clients, by the protocol revision that they speak
	Running  Axis = "running"  // tasks and questions that are open when the new server starts
)

// Axes are all axes, in the order in which they are shown.
var Axes = []Axis{Callers, Handlers, Wire, Running}

// ChangeRule is a kind of change that mcpkiln diff reports.
type ChangeRule struct {
	ID    string
	Axis  Axis
	Class Class
	Says  string // what has changed
	Do    string // what to do about it
}

// Changes are all kinds of changes. An id is never renamed: manifests name them in diff.classes.
var Changes = []ChangeRule{
	{"tool-removed", Callers, Breaking, "A tool is gone, or has another name.", "Keep the old tool beside the new one for as long as callers know it."},
	{"tool-added", Callers, Compatible, "There is a new tool.", ""},
	{"input-narrower", Callers, Breaking, "Arguments that were accepted are refused.", "Make what is new optional, or add a tool."},
	{"input-claimed", Callers, AskAgain, "A property is described that could hold anything before, as all can that an open schema does not name.", "Nothing, unless callers send a property of that name."},
	{"input-wider", Callers, Compatible, "Arguments are accepted that were refused.", ""},
	{"input-undecided", Callers, Breaking, "It is not known whether arguments that were accepted are refused.", "Compare the schemas by hand, and set its class if you know."},
	{"default-changed", Callers, Breaking, "A caller that leaves an argument out gets another value.", "Keep the default, or add another property."},
	{"output-wider", Callers, Breaking, "Answers may hold what the old outputSchema did not allow.", "Answer as before, or add a property that old callers may ignore."},
	{"output-narrower", Callers, Compatible, "Answers hold less than the old outputSchema allowed.", ""},
	{"output-undecided", Callers, Breaking, "It is not known whether answers may hold what the old outputSchema did not allow.", "Compare the schemas by hand, and set its class if you know."},
	{"output-added", Callers, Compatible, "A tool has got an outputSchema.", ""},
	{"output-removed", Callers, Breaking, "A tool has no outputSchema any more, so its answers have no structuredContent.", "Keep the schema, if a wider one."},
	{"definition-changed", Callers, AskAgain, "Description or inputSchema of a tool reads otherwise: clients that pin what their user has approved ask again.", "Collect such changes in one release."},
	{"annotations-changed", Callers, AskAgain, "Clients decide by annotations what needs approval.", "Collect such changes in one release."},
	{"title-changed", Callers, Documentation, "The title of a tool.", ""},
	{"icons-changed", Callers, Documentation, "The icons of a tool.", ""},
	{"meta-changed", Callers, Documentation, "The _meta of a tool.", ""},
	{"output-described", Callers, Documentation, "An outputSchema reads otherwise, and allows the same.", ""},
	{"question-needed", Callers, Breaking, "A tool asks something new and fails where the client can not ask its user, or fails there now.", "Say onUnsupported: decline or default."},
	{"question-added", Callers, Compatible, "A tool asks something new and goes on where the client can not ask its user, or goes on there now.", ""},
	{"question-moved", Callers, Compatible, "A question is asked before a task is made of the call, or after that.", ""},
	{"client-needs-more", Callers, Breaking, "A handler asks for a capability of the client that it did not ask for before: clients without it are refused.", "Go on without it where the client lacks it, or add a tool."},
	{"client-needs-less", Callers, Compatible, "A handler asks for less of the client.", ""},
	{"timeout-shorter", Callers, Breaking, "Calls that took longer than the new timeout end with it, or answers of the user that did.", "Let such calls of tools run as tasks, or keep the longer time."},
	{"timeout-longer", Callers, Compatible, "Calls, or answers of the user, may take longer.", ""},
	{"concurrency-lower", Callers, Compatible, "Fewer runs of a tool go on at once; the others wait their turn within their timeout.", ""},
	{"concurrency-higher", Callers, Compatible, "More runs of a tool go on at once.", ""},
	{"ttl-shorter", Callers, Breaking, "Tasks and their results are kept for less time: who looks later finds none.", "Keep the ttl, or tell callers."},
	{"ttl-longer", Callers, Compatible, "Tasks and their results are kept for more time.", ""},
	{"poll-changed", Callers, Compatible, "Clients are told to look at tasks more or less often.", ""},
	{"crash-fails", Callers, Breaking, "A task fails when the process dies that runs it; it began again before.", "Say onCrash: rerun if the handler may run again from the top."},
	{"reruns-fewer", Callers, Breaking, "A task begins again after fewer crashes before it fails.", "Keep maxReruns, or tell callers."},
	{"reruns-more", Callers, Compatible, "A task begins again after more crashes before it fails.", ""},
	{"cancellation-changed", Callers, Compatible, "Whether a call can be cancelled.", ""},
	{"entry-removed", Callers, Breaking, "A prompt, resource, template, method or extension is gone.", "Keep the old one beside the new one for as long as callers know it."},
	{"entry-added", Callers, Compatible, "There is a new prompt, resource, template, method or extension.", ""},
	{"subscription-removed", Callers, Breaking, "Clients can not subscribe to a resource any more.", "Keep subscribe: true for as long as clients do."},
	{"subscription-added", Callers, Compatible, "Clients can subscribe to a resource.", ""},
	{"entry-changed", Callers, Documentation, "What is listed of a prompt, resource or template.", ""},
	{"server-renamed", Callers, AskAgain, "Clients take the server for another one.", "Keep the name."},
	{"server-described", Callers, Documentation, "Title, description, instructions, website or icons of the server.", ""},

	{"handler-added", Handlers, Compatible, "Handlers has a new method: the compiler names it until it is written.", "Write the method."},
	{"handler-removed", Handlers, Compatible, "Handlers lacks a method: what was written for it is called no more.", "Delete it."},
	{"go-removed", Handlers, Breaking, "A type, field, method or constant is gone.", "Change the handlers that use it."},
	{"go-changed", Handlers, Breaking, "A type, field or method has another type.", "Change the handlers that use it."},
	{"go-added", Handlers, Compatible, "There are new types, fields, methods or constants.", ""},
	{"crash-reruns", Handlers, Breaking, "A handler runs again from the top when the process of its task dies; the task failed before.", "Put effects into steps (server.Do), or say onCrash: fail."},

	{"revision-removed", Wire, Breaking, "Clients that speak only this revision are refused.", "Keep the revision for as long as such clients connect."},
	{"revision-added", Wire, Compatible, "Clients of another revision are served.", ""},
	{"task-required", Wire, Breaking, "A tool runs as a task alone: clients that know no tasks are refused where the revision has them.", "Say taskSupport: optional."},
	{"task-optional", Wire, Compatible, "A tool runs inline or as a task, as the client asks.", ""},
	{"task-forbidden", Wire, Breaking, "A tool does not run as a task any more: clients that ask for one are refused.", "Say taskSupport: optional."},

	{"running-tool-removed", Running, Breaking, "Tasks of a tool that is gone can not go on.", "Let them end before the new server starts."},
	{"running-arguments", Running, Breaking, "Stored arguments of running tasks may be refused when they go on.", "Let them end before the new server starts."},
	{"running-results", Running, Breaking, "Stored results of tasks may be none that the new outputSchema allows.", "Let them expire before the new server starts, or allow what was answered before."},
	{"question-removed", Running, Breaking, "Tasks that have asked a question, or wait for its answer, ask it no more.", "Let them end before the new server starts."},
	{"question-changed", Running, Breaking, "A question has other words or another schema: a task that has asked the old one fails when its handler runs again, and a retry whose requestState has the old answer is refused.", "Give the new question a name of its own, or let them end before the new server starts."},
	{"revision-methods", Wire, Breaking, "A method of one revision does not exist in the other.", "Clients have to send what stands in its place; the generated server does it."},
	{"revision-answers", Wire, Compatible, "Methods that the newer revision has.", ""},
	{"revision-session", Wire, Breaking, "How a connection begins, and what each request carries.", "Clients have to follow; the generated server does it."},
	{"revision-http", Wire, Breaking, "Headers and what a dropped stream means.", "Clients and gateways have to follow; the generated server does it."},
	{"revision-tasks", Wire, Breaking, "How a tool runs as a task.", "Clients have to follow; the generated server does it."},
	{"revision-questions", Wire, Breaking, "How a tool asks the user.", "Clients have to follow; handlers must be ready to run again where a question is asked inside of a result."},
	{"revision-errors", Wire, Breaking, "The code of an error.", "Clients that look at codes have to follow."},
	{"revision-definition", Callers, AskAgain, "What tools/list shows of a tool.", "Nothing, if clients of both revisions are approved apart."},
	{"revision-same", Wire, Compatible, "A tool is called as before.", ""},
	{"revision-deprecated", Wire, Documentation, "What the newer revision advises against.", "Plan to move."},
}

// Change returns the rule with an id.
func Change(id string) (ChangeRule, bool) {
	i := slices.IndexFunc(Changes, func(r ChangeRule) bool { return r.ID == id })
	if i < 0 {
		return ChangeRule{}, false
	}
	return Changes[i], true
}

// diff reads the classes that mcpkiln diff gives to changes.
func (l *loader) diff(n *schema.Node) {
	l.fields(n, "diff", map[string]func(*schema.Node){"classes": l.classes})
}

func (l *loader) classes(n *schema.Node) {
	if !l.is(n, schema.Object) {
		return
	}
	var ids []string
	for _, r := range Changes {
		ids = append(ids, r.ID)
	}
	l.m.Classes = map[string]Class{}
	for _, m := range n.Members {
		if !slices.Contains(ids, m.Key) {
			hint := schema.DidYouMean(m.Key, ids)
			if hint == "" {
				hint = "it may hold " + strings.Join(ids, ", ")
			}
			l.ds.ReportAt(m.KeyPos, m.Value.Pointer, "unknown-change", hint, "%.80q is no change that mcpkiln diff tells", m.Key)
			continue
		}
		l.m.Classes[m.Key] = choice(l, m.Value, Classes...)
	}
}
