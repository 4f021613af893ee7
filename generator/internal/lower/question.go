package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// callMembers are the members of server.Call, which no question may hide.
func callMembers() []string {
	return []string{"Call", "ID", "Tool", "TaskID", "Principal", "Client", "Revision", "Session", "Meta", "Header", "Log", "CancelRequested", "Progress", "SetStatus", "Do", "Key", "LogMessage",
		"ElicitationComplete", "Content", "Summary", "ResultMeta"}
}

// questionName is the name of the method that asks. A derived name that is not allowed gets the prefix Ask.
func (l *packageLowering) questionName(e *manifest.Elicitation) string {
	name := goNameOf(e.Name, e.GoName)
	member := slices.Contains(callMembers(), name)
	switch {
	case !member && !naming.IsStandardMethod(name):
		return name
	case e.GoName.Node != nil && member:
		l.diags.Report(e.GoName.Node, "same-go-name", "choose another goName", "every call has a %s already", name)
	case e.GoName.Node != nil:
		l.refuseStandard(name, fmt.Sprintf("question %q", e.Name), e.GoName)
	}
	return "Ask" + name
}

// asker makes the questions of a handler with their names; of is the handler's tool or entry. The same Go name twice is an error at the second question.
func (l *packageLowering) asker(of, goName string, asked []manifest.Elicitation) model.Asker {
	out := model.Asker{Of: of}
	if len(asked) > 0 {
		out.Call = l.types.Names.Take(goName + "Call")
	}
	first := make(map[string]*manifest.Elicitation)
	for i := range asked {
		e := &asked[i]
		name := l.questionName(e)
		if other := first[name]; other != nil {
			l.diags.ReportAt(e.Pos, e.Node.Pointer, "same-go-name", "give one of them a goName",
				"questions %q and %q (%s) would both be %s in Go", e.Name, other.Name, other.Pos, name)
		}
		first[name] = e
		out.Questions = append(out.Questions, &model.Question{
			Name: e.Name, GoName: name, Ident: l.types.Names.Take(naming.Unexported(goName) + name + "Question"),
		})
	}
	return out
}

// questions lowers the questions of a handler. inline says that calls may run inline.
func (l *packageLowering) questions(a *model.Asker, goName string, asked []manifest.Elicitation, inline bool) {
	for i := range asked {
		l.question(a, goName, &asked[i], a.Questions[i], inline)
	}
}

func (l *packageLowering) question(a *model.Asker, goName string, e *manifest.Elicitation, q *model.Question, inline bool) {
	q.Message = e.Message.Value
	q.Timeout = e.Timeout.Value
	q.BeforeTask = e.BeforeTask.Value
	q.Schema = typing.EscapeInvisible(string(e.Schema.Bundle().JSON()))
	name := goName + goNameOf(e.Name, e.GoName)
	q.Answer = l.types.Lower(typing.Root{Document: e.Schema, Name: name, DefsPrefix: name, Use: model.Decode,
		Doc: []string{fmt.Sprintf("%s is an answer to the question %s of %s.", name, e.Name, a.Of)}})
	switch e.OnUnsupported {
	case manifest.Decline:
		q.OnUnsupported = model.Decline
	case manifest.Default:
		q.OnUnsupported = model.UseDefault
		l.later = append(l.later, func() { l.defaultAnswer(e, q) })
	}
	q.Doc = l.questionDoc(q, inline)
}

// runAgain describes how a question works for an inline call in a stateless revision, which has no requests to the client; "" if no such revision is
// served.
func (l *packageLowering) runAgain() string {
	names := l.statelessRevisions()
	if names == nil {
		return ""
	}
	return "Under " + strings.Join(names, ", ") + " an inline call can not wait: the first asking returns server.ErrAsked at once. That is no " +
		"failure: return it, and do not log it or roll back for it. When the answer is there, the handler runs again from the top and gets it: " +
		"what must not happen twice comes after the last question, or goes into call.Do."
}

func (l *packageLowering) questionDoc(q *model.Question, inline bool) []string {
	doc := []string{fmt.Sprintf("%s asks the user %q; another message replaces that text, \"\" keeps it.", q.GoName, q.Message)}
	until := "It waits until the user answers, declines or dismisses the question, or ctx ends"
	most := "as long as server.WithQuestionTimeout says"
	if q.Timeout > 0 {
		most = model.Short(q.Timeout)
	}
	doc = append(doc, until+", at most "+most+". The timeout of the call stands still meanwhile.", "A question is asked once in a run: to ask about several "+
		"things, name each with server.Named, the same whenever the handler runs again.")
	if q.BeforeTask {
		doc = append(doc, "Where the revision can, the client is asked with that text before the handler runs, and a task is made of the call. This returns the answer at once then; with another message, or Named, it is a new question.")
	}
	if line := onUnsupportedDoc(q.OnUnsupported); line != "" {
		doc = append(doc, line)
	}
	again := ""
	if inline {
		again = l.runAgain()
	}
	return append(doc, paragraphs(again, questionErrors(q, again != ""))...)
}

// paragraphs puts an empty line before each text that is not empty.
func paragraphs(texts ...string) []string {
	var out []string
	for _, text := range texts {
		if text != "" {
			out = append(out, "", text)
		}
	}
	return out
}

func onUnsupportedDoc(u model.OnUnsupported) string {
	switch u {
	case model.Decline:
		return "A client that can not ask counts as declined."
	case model.UseDefault:
		return "A client that can not ask counts as accepting the defaults of the schema."
	default:
		return "" // Fail: questionErrors lists the error
	}
}

// questionErrors lists the errors of a question.
func questionErrors(q *model.Question, again bool) string {
	var errs []string
	if again {
		errs = append(errs, "server.ErrAsked")
	}
	if q.OnUnsupported == model.Fail {
		errs = append(errs, "server.ErrUnsupported when the client can not ask")
	}
	errs = append(errs, "server.ErrQuestionTimeout", "*server.AnswerError for an answer that breaks the schema",
		"*server.QuestionError when the client answered with an error", "the cause of ctx", "the rarer ones of server.Ask")
	return "Errors: " + strings.Join(errs, ", ") + "."
}
