package reference

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// protocol adds the sections about tasks, questions and cancellation, as far as the server has them.
func (m *maker) protocol() {
	tasks := slices.ContainsFunc(m.Package.Tools, func(t *model.Tool) bool { return t.Task.Support != model.TaskForbidden })
	asks := slices.ContainsFunc(m.Package.Tools, func(t *model.Tool) bool { return len(t.Questions) > 0 }) ||
		slices.ContainsFunc(m.Package.Entries, func(h *model.EntryHandler) bool { return len(h.Questions) > 0 })
	if tasks {
		m.taskStates()
	}
	if asks {
		m.questionDiagrams(tasks)
	}
	if len(m.Package.Tools) > 0 {
		m.cancellation(tasks)
	}
}

// grouped calls do once for all revisions of which of returns the same x, with x and the names of these revisions; newest first. A revision of which
// of returns false is left out.
func grouped[T any](all []*revision.Revision, of func(*revision.Revision) (T, bool), same func(a, b T) bool, do func(x T, names string)) {
	type group struct {
		is    T
		names []string
	}
	var groups []group
	sorted := slices.SortedFunc(slices.Values(all), func(a, b *revision.Revision) int { return cmp.Compare(b.Name, a.Name) })
	for _, r := range sorted {
		x, ok := of(r)
		if !ok {
			continue
		}
		if i := slices.IndexFunc(groups, func(g group) bool { return same(g.is, x) }); i >= 0 {
			groups[i].names = append(groups[i].names, r.Name)
		} else {
			groups = append(groups, group{x, []string{r.Name}})
		}
	}
	for _, g := range groups {
		do(g.is, strings.Join(g.names, ", "))
	}
}

// taskStates adds the state diagrams of tasks.
func (m *maker) taskStates() {
	m.section("tasks", "Tasks")
	m.add(Paragraph{text("A call that runs as a task returns a task at once. The client looks at it until its status is one that it keeps. " +
		"Of completion, failure and cancellation the first wins.")})
	states := func(r *revision.Revision) (States, bool) {
		if r.Task == nil {
			return States{}, false
		}
		return statesOf(r.Task), true
	}
	same := func(a, b States) bool { return slices.Equal(a.Names, b.Names) && slices.Equal(a.Edges, b.Edges) }
	grouped(m.Revisions, states, same, func(s States, names string) {
		m.add(Diagram{"The states of a task: " + names, s})
	})
}

// order is the order of the states in a diagram. States that are not in it, of a revision that the user wrote, come last.
var order = []string{"working", "input_required", "completed", "failed", "cancelled"}

func byOrder(a, b string) int {
	place := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	return cmp.Or(place(a)-place(b), strings.Compare(a, b))
}

// statesOf are the states of a task, the initial one first.
func statesOf(t *revision.Task) (s States) {
	others := slices.DeleteFunc(slices.Clone(t.Statuses), func(n string) bool { return n == t.Initial })
	slices.SortFunc(others, byOrder)
	s.Names = append([]string{t.Initial}, others...)
	for _, e := range t.Edges {
		for _, to := range e.To {
			label := ""
			if !slices.Contains(t.Terminal, to) {
				label = map[bool]string{true: "is answered", false: "asks"}[to == t.Initial]
			}
			s.Edges = append(s.Edges, Edge{e.From, to, label})
		}
	}
	slices.SortFunc(s.Edges, func(a, b Edge) int {
		return cmp.Or(slices.Index(s.Names, a.From)-slices.Index(s.Names, b.From), slices.Index(s.Names, a.To)-slices.Index(s.Names, b.To))
	})
	return s
}

// questionDiagrams adds the sequence diagrams of questions.
func (m *maker) questionDiagrams(tasks bool) {
	m.section("questions", "Questions")
	m.add(Paragraph{text("What may ask the user says so in its section. How the question travels depends on the revision, and on how the call runs.")})
	same := func(a, b Sequence) bool { return slices.Equal(a.Steps, b.Steps) }
	grouped(m.Revisions, inlineQuestion, same, func(s Sequence, names string) {
		m.add(Diagram{"A question of an inline call: " + names, s})
	})
	if tasks {
		grouped(m.Revisions, taskQuestion, same, func(s Sequence, names string) {
			m.add(Diagram{"A question of a task: " + names, s})
		})
	}
	var none []string
	for _, r := range m.Revisions {
		if r.Op("elicit", revision.FromServer) == nil {
			none = append(none, r.Name)
		}
	}
	if len(none) > 0 {
		slices.SortFunc(none, func(a, b string) int { return strings.Compare(b, a) })
		m.add(Paragraph{text("There are no questions in " + strings.Join(none, ", ") + ": the call goes on as its tool says for clients that can not ask.")})
	}
}

func sequence(steps ...Step) (Sequence, bool) { return Sequence{"client", "server", steps}, true }

// to is a message of the client, back one of the server.
func to(text string) Step   { return Step{false, text} }
func back(text string) Step { return Step{true, text} }

// method is the name of a client's operation in a revision.
func method(r *revision.Revision, op string) string {
	if m := r.Op(op, revision.FromClient); m != nil {
		return m.Name
	}
	return op
}

// inlineQuestion is the sequence of messages of a question in an inline call.
func inlineQuestion(r *revision.Revision) (Sequence, bool) {
	question, call := r.Op("elicit", revision.FromServer), method(r, "callTool")
	switch {
	case question == nil:
		return Sequence{}, false
	case question.Kind == revision.Input:
		return sequence(to(call), back("input required, with the question and a state"), to(call+", with the answer and the state"), back("the result"))
	}
	return sequence(to(call), back(question.Name+", a request"), to("the answer to it"), back("the result of "+call))
}

// taskQuestion is the sequence of messages of a question of a task.
func taskQuestion(r *revision.Revision) (Sequence, bool) {
	question, call := r.Op("elicit", revision.FromServer), method(r, "callTool")
	if question == nil || r.Task == nil {
		return Sequence{}, false
	}
	look := method(r, "getTask")
	if r.Task.Questions == revision.QuestionsInline {
		return sequence(to(call), back("a task, working"), to(look), back("input_required, with the question"),
			to(method(r, "updateTask")+", with the answer"), to(look), back("completed, with the result"))
	}
	result := method(r, "taskResult")
	return sequence(to(call+", as a task"), back("a task, working"), to(look), back("input_required"), to(result),
		back(question.Name+", for the task"), to("the answer to it"), back("the result of the call"))
}

// cancellation adds how a call is cancelled in each revision.
func (m *maker) cancellation(tasks bool) {
	m.section("cancelling", "Cancelling")
	m.add(Paragraph{text("A cancelled call is not answered. A call that has ended can not be cancelled any more, and one that can not be cancelled runs to its end.")})
	head := []string{"revision", "an inline call", "its response over HTTP is dropped"}
	if tasks {
		head = append(head, "a task")
	}
	table := Table{Head: head}
	for _, r := range slices.SortedFunc(slices.Values(m.Revisions), func(a, b *revision.Revision) int { return cmp.Compare(b.Name, a.Name) }) {
		row := []Text{code(r.Name), append(code(method(r, "cancelled")), Span{Text: " with the id of the call"}), dropped(r)}
		if tasks {
			row = append(row, taskCancel(r))
		}
		table.Rows = append(table.Rows, row)
	}
	m.add(table)
}

// dropped says what happens to a call when a client closes the stream of its response.
func dropped(r *revision.Revision) Text {
	if r.HTTP.Disconnect == revision.DisconnectCancels {
		return text("the call is cancelled")
	}
	return text("the call goes on")
}

func taskCancel(r *revision.Revision) Text {
	switch {
	case r.Task == nil:
		return text("there are no tasks")
	case r.Task.Cancel == revision.CancelForces:
		return append(code(method(r, "cancelTask")), Span{Text: ": the task is cancelled at once"})
	}
	return append(code(method(r, "cancelTask")), Span{Text: ": the task is asked to stop, and may still complete"})
}
