package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// asking is a server of 2026-07-28 with a task t1 that asks, until it has an answer to each question.
type asking struct {
	mu        sync.Mutex
	questions map[string]json.RawMessage
	refuses   int      // how many answers get status 503
	gone      string   // the question that another client has answered by then
	silent    bool     // it says that it asks, and not what
	stale     []string // what the next readings of its state see in place of it
	blinds    bool     // its state can not be read once it has an answer
	blind     bool
	restless  int    // how much it has asked, if more than half of maxShown is new at each reading; else 0
	expired   bool   // it does not know the task any more
	before    string // what it asks before a call becomes the task; "" for nothing
	slow      bool   // it wants to be asked once a minute
	tool      string // its only tool
	seen      []string
	fault     int    // the HTTP status of readings of its state; 0: they are answered
	cancels   func() // is called when it is asked to cancel the task
	// receipt answers an answer in place of the server.
	receipt func(w http.ResponseWriter, id json.RawMessage)
}

const (
	sureForm   = `{"method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object","properties":{"yes":{"type":"boolean"}},"required":["yes"]}}}`
	nameForm   = `{"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}`
	noForm     = `{"method":"elicitation/create","params":{"message":"x","requestedSchema":{"type":"object","properties":{"a":{"type":"object"}}}}}`
	asksSample = `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}`
	asksRoots  = `{"method":"roots/list","params":{}}`
)

// ServeHTTP implements http.Handler.
func (a *asking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ InputResponses map[string]json.RawMessage }
	}
	_ = json.NewDecoder(r.Body).Decode(&m)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, m.Method)
	if a.receipt != nil && m.Method == "tasks/update" {
		a.receipt(w, m.ID)
		return
	}
	if a.blind && m.Method == "tasks/get" {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if a.fault != 0 && m.Method == "tasks/get" {
		w.WriteHeader(a.fault)
		return
	}
	result := `{"resultType":"complete"}`
	switch m.Method {
	case "server/discover":
		result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"}`
	case "tools/list":
		result = `{"resultType":"complete","tools":[` + a.tool + `],"ttlMs":0,"cacheScope":"private"}`
	case "tools/call":
		result = `{"resultType":"task",` + a.state() + `}`
		if a.before != "" && m.Params.InputResponses == nil {
			result = `{"resultType":"input_required","inputRequests":{"before":` + a.before + `}}`
		}
	case "tasks/get":
		result = `{"resultType":"complete",` + a.state() + `}`
	case "tasks/cancel":
		if a.cancels != nil {
			a.cancels()
		}
	case "tasks/update":
		if a.refuses > 0 {
			a.refuses--
			delete(a.questions, a.gone)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		for key := range m.Params.InputResponses {
			delete(a.questions, key)
			a.blind = a.blinds
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if m.Method == "tasks/get" && a.expired {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown task"}}`, m.ID)
		return
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// state returns the members of the task's state.
func (a *asking) state() string {
	more := `"status":"completed","result":{"content":[{"type":"text","text":"done"}]}`
	if len(a.stale) > 0 {
		more, a.stale = a.stale[0], a.stale[1:]
		return taskMembers + more
	}
	if a.restless > 0 {
		a.questions = map[string]json.RawMessage{}
		for range maxShown/2 + 1 {
			a.restless++
			a.questions[fmt.Sprint("q", a.restless)] = json.RawMessage(`{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
		}
	}
	if len(a.questions) > 0 || a.silent {
		open, _ := json.Marshal(a.questions)
		more = `"status":"input_required","inputRequests":` + string(open)
	}
	if a.slow {
		return strings.Replace(taskMembers, ":20,", ":60000,", 1) + more
	}
	return taskMembers + more
}

// taskMembers are the members of the task's state that stay the same.
const taskMembers = `"taskId":"t1","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null,"pollIntervalMs":20,`

// ask serves a task with questions, and returns its reference.
func ask(t *testing.T, refuses int, questions ...string) (a *asking, ref string) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	a = &asking{questions: map[string]json.RawMessage{}, refuses: refuses, tool: plainTool}
	for n, q := range questions {
		a.questions[fmt.Sprintf("q%d", n)] = json.RawMessage(q)
	}
	ts := httptest.NewServer(a)
	t.Cleanup(ts.Close)
	return a, `{"version":1,"endpoint":"` + ts.URL + `","revision":"2026-07-28","tool":"t","id":"t1"}`
}

// change changes what the server does.
func (a *asking) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// put adds a question.
func (a *asking) put(key, question string) {
	a.change(func() { a.questions[key] = json.RawMessage(question) })
}

// open returns the keys of the questions that are not answered yet.
func (a *asking) open() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.questions))
}

// saw returns how often the server got a request.
func (a *asking) saw(method string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range a.seen {
		if m == method {
			n++
		}
	}
	return n
}

// TestEXT22ACommandLeavesOpenWhatOnlyTheHostOfATaskCanAnswer: no command cancels a task because of a question that it can not answer, and
// each says what the task asks.
func TestEXT22ACommandLeavesOpenWhatOnlyTheHostOfATaskCanAnswer(t *testing.T) {
	for _, c := range []struct{ question, says string }{
		{asksSample, "asks for sampling, which mcpkiln itself can not do: only the host that made the task can answer"},
		{asksRoots, "asks for roots, which only the host that made the task can answer"},
		{noForm, "asks something (elicitation/create) that this command can not answer"},
	} {
		a, ref := ask(t, 0, c.question)
		for _, run := range []struct {
			args   []string
			status int
		}{
			{[]string{"get", ref}, 0}, {[]string{"get", "--json", ref}, 0}, {[]string{"wait", ref}, exitInputRequired},
			{[]string{"answer", ref, "yes=true"}, exitRefused}, {[]string{"answer", "--key", "q0", ref, "yes=true"}, exitRefused},
		} {
			status, stdout, stderr := runs(t, append([]string{"task"}, run.args...)...)
			if status != run.status || !strings.Contains(stdout+stderr, c.says) {
				t.Errorf("%s: status %d: %s%s", run.args[0], status, stdout, stderr)
			}
		}
		if a.saw("tasks/cancel")+a.saw("tasks/update") > 0 {
			t.Errorf("%s: the server got %q", c.question, a.seen)
		}
	}
}

// TestEXT22ACommandAnswersTheQuestionThatItCan: beside one that it can not answer, or that the fields do not fit.
func TestEXT22ACommandAnswersTheQuestionThatItCan(t *testing.T) {
	for _, beside := range []string{asksSample, noForm, nameForm} {
		for range 3 { // they are asked at the same time
			a, ref := ask(t, 0, sureForm, beside)
			status, stdout, stderr := runs(t, "task", "get", ref)
			if status != 0 || !strings.Contains(stdout, "q0: it asks for a form: sure?") || strings.Count(stdout, ": it asks") != 2 {
				t.Errorf("status %d: %s%s", status, stdout, stderr)
			}
			status, stdout, stderr = runs(t, "task", "answer", ref, "yes=true")
			if status != 0 || !slices.Equal(a.open(), []string{"q1"}) || a.saw("tasks/cancel") > 0 {
				t.Errorf("status %d: %s%s", status, stdout, stderr)
			}
		}
	}
}

// TestEXT22ACommandGivesOneAnswer, though its fields fit several questions.
func TestEXT22ACommandGivesOneAnswer(t *testing.T) {
	a, ref := ask(t, 0, slices.Repeat([]string{sureForm}, 20)...)
	status, stdout, stderr := runs(t, "task", "answer", ref, "yes=true")
	if status != 0 || len(a.open()) != 19 || a.saw("tasks/update") != 1 {
		t.Errorf("status %d, %d are open: %s%s", status, len(a.open()), stdout, stderr)
	}
}

// TestEXT22AnAnswerIsGivenAgain: an answer that a busy server did not take is neither lost nor the end of the task.
func TestEXT22AnAnswerIsGivenAgain(t *testing.T) {
	a, ref := ask(t, 1, sureForm)
	began := time.Now()
	status, stdout, stderr := runs(t, "task", "answer", ref, "yes=true")
	if status != 0 || !strings.HasPrefix(stdout, "completed") || a.saw("tasks/update") != 2 || a.saw("tasks/cancel") > 0 {
		t.Errorf("status %d after %v: %s%s", status, time.Since(began), stdout, stderr)
	}
}

// TestEXT22AnAnswerIsGivenBeforeTheCommandEnds: also if another question of the task is gone meanwhile, which changes its state.
func TestEXT22AnAnswerIsGivenBeforeTheCommandEnds(t *testing.T) {
	a, ref := ask(t, 1, sureForm, nameForm)
	a.change(func() { a.gone = "q1" })
	status, stdout, stderr := runs(t, "task", "answer", ref, "yes=true")
	if status != 0 || !strings.HasPrefix(stdout, "completed") || a.saw("tasks/update") != 2 || len(a.open()) > 0 {
		t.Errorf("status %d, %q are open: %s%s", status, a.open(), stdout, stderr)
	}
}

// TestEXT22QuestionsAreShownInTheOrderOfTheServer, whatever their keys are, and also those that only a host can answer.
func TestEXT22QuestionsAreShownInTheOrderOfTheServer(t *testing.T) {
	a, ref := ask(t, 0, sureForm)
	state := `"status":"input_required","inputRequests":{"z":` + sureForm + `,"b":` + asksSample + `,"c":` + asksRoots + `,"y":` + nameForm + `,"a":` + noForm + `}`
	a.change(func() { a.stale = slices.Repeat([]string{state}, 1000) })
	for _, c := range []struct{ flag, form string }{{"--json=false", "\n  %s: it asks"}, {"--json", `"key":"%s"`}} {
		status, stdout, stderr := runs(t, "task", "get", c.flag, ref)
		last := -1
		for _, key := range []string{"z", "b", "c", "y", "a"} {
			at := strings.Index(stdout, fmt.Sprintf(c.form, key))
			if status != 0 || at <= last {
				t.Errorf("status %d, %s is at %d: %s%s", status, key, at, stdout, stderr)
			}
			last = at
		}
	}
}
