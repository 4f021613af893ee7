package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Question is what a server asks: a request of its own, or a part of a result or a task. Handlers need not know which.
type Question struct {
	Server  string // who asks: the host's name for it (WithServerName), else what it calls itself
	Method  string
	Params  json.RawMessage // all that is asked, a JSON object
	Message string          // to the user
	Schema  json.RawMessage // of a form
	URL     string          // of a page,
	Host    string          // and where it is
	// ElicitationID names the page in Handlers.PageDone; "" where nothing is told.
	ElicitationID string
	// Task is the id of the task that asks, "" for none.
	Task string
	// Key tells the questions of one result or task apart; "" for requests.
	Key string
}

// Action is what a user did with a question.
type Action string

// The actions.
const (
	Accepted  Action = "accept"
	Declined  Action = "decline"
	Dismissed Action = "cancel" // closed it without a choice
)

// Answer is the answer to Handlers.Elicit and OpenURL.
type Answer struct {
	Action Action
	// Content is what the user filled in, by the names of the form's fields: a map, or anything else that json.Marshal makes an object of.
	// Fields that are missing get their defaults.
	Content any
}

// ErrRejected is for Handlers.Sample: the user does not allow it.
var ErrRejected = errors.New("client: rejected by the user")

// codeRejected is what sampling that a user rejects is answered with.
const codeRejected = -1

// question is a question of the server that came as a request. It is the Values of its entry.
type question struct {
	context.Context // nil; the tracker asks for values only
	*Question
	s       *Session
	dialect *wire.Dialect
	op      wire.Op
	id      rpc.ID

	mu      sync.Mutex
	holders map[*call]struct{} // the calls that may have asked; when the last of them is over, so is the question
}

// Value implements context.Context.
func (*question) Value(any) any { return nil }

// asked takes a request of the server.
func (s *Session) asked(m *rpc.Message, from *round) {
	d := s.dialect.Load()
	h := d.Heard(string(m.Method))
	switch {
	case h != nil && h.Op == wire.OpPing:
		s.link.reply(rpc.AppendResult(nil, m.ID, nil))
		return
	case h == nil && s.echoed(m):
		return
	case h == nil || h.Notification || h.Input || h.Capability == "":
		s.link.reply(rpc.AppendError(nil, m.ID, rpc.Errorf(rpc.CodeMethodNotFound, "unknown method %q", m.Method)))
		return
	}
	switch h.Op {
	case wire.OpGetTask, wire.OpTaskResult, wire.OpListTasks, wire.OpCancelTask:
		s.askedAboutTask(d, h, m)
		return
	}
	s.mu.Lock()
	many := s.asking >= maxQuestions
	s.mu.Unlock()
	if many {
		s.link.reply(rpc.AppendError(nil, m.ID, rpc.Errorf(rpc.CodeInternalError, "%d questions are open", maxQuestions)))
		return
	}
	asked, bad := s.newQuestion(d, h, m.Params)
	if bad != nil {
		s.link.reply(rpc.AppendError(nil, m.ID, bad))
		return
	}
	over := func() bool { return from != nil && asked.Task == "" && from.entry.Err() != nil }
	if over() { // nobody would know what the question is about
		s.link.reply(rpc.AppendError(nil, m.ID, rpc.Errorf(rpc.CodeInvalidRequest, "the call that asks is over")))
		return
	}
	q := &question{Question: asked, s: s, dialect: d, op: h.Op, id: m.ID, holders: map[*call]struct{}{}}
	if wanted := s.wantsTask(d, h, m.Params); wanted != nil {
		s.createTask(q, m, wanted, from)
		return
	}
	info := inflight.Info{Method: h.Name, Timeout: s.cfg.questionTimeout, AnswersTimeout: true, Values: q}
	e, err := s.tracker.Register(s.ctx, s.key(m.ID, inflight.Incoming), info)
	if err != nil {
		s.link.reply(rpc.AppendError(nil, m.ID, rpc.Errorf(rpc.CodeInvalidRequest, "%v", err)))
		return
	}
	q.hold(from)
	if over() { // just now
		e.Cancel(&Cause{Source: inflight.SourceParent, Reason: "the call that asked is over"})
	}
	s.count(1)
	if !s.spawn(func() { q.serve(e) }) {
		s.count(-1)
		e.Cancel(&Cause{Source: inflight.SourceShutdown, Force: true})
	}
}

// echoed ends a request of this side that comes back as one of the other side's, which has no such: there is no server, but something that
// writes what it reads.
func (s *Session) echoed(m *rpc.Message) bool {
	e := s.tracker.Find(s.key(m.ID, inflight.Outgoing))
	if e == nil || e.Info().Method != string(m.Method) {
		return false
	}
	e.Info().Values.(*round).fault(broken("", "it sends back what it is sent: this is no server"))
	s.tracker.Deliver(e.Key(), inflight.Response{})
	return true
}

// maxQuestions is how many requests of a server may be with handlers at once.
const maxQuestions = 100

func (s *Session) count(by int) {
	s.mu.Lock()
	s.asking += by
	s.mu.Unlock()
}

// serve has the handler answer, and sends what it says unless the question is over (CAN31).
func (q *question) serve(e *inflight.Entry) {
	result, bad := q.s.answer(e, q.dialect, q.op, q.Question)
	won := e.Retire()
	q.done()
	q.s.count(-1)
	switch {
	case !won:
		q.s.cfg.logger.Debug("an answer to a question that is over was dropped", "id", q.id.String())
	case bad != nil:
		q.s.link.reply(rpc.AppendError(nil, q.id, bad))
	default:
		q.s.link.reply(rpc.AppendResult(nil, q.id, result))
	}
}

// hold stops the clocks of the calls that may have asked: the one on whose stream the question came, else all that are in flight (CAN28).
// A question of a task belongs to no call.
func (q *question) hold(from *round) {
	if q.Task != "" {
		return
	}
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	for c := range q.s.calls {
		if from == nil || from.call == c {
			q.add(c)
		}
	}
}

func (q *question) add(c *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.questions == nil {
		c.questions = map[*question]struct{}{}
	}
	c.questions[q] = struct{}{}
	c.round.entry.Pause()
	q.mu.Lock()
	q.holders[c] = struct{}{}
	q.mu.Unlock()
}

// release is told that a call is over.
func (q *question) release(c *call) {
	q.mu.Lock()
	delete(q.holders, c)
	last := len(q.holders) == 0
	q.mu.Unlock()
	if last {
		if e := q.s.tracker.Find(q.s.key(q.id, inflight.Incoming)); e != nil && e.Info().Values == context.Context(q) { // else it is a task
			e.Cancel(q.s.callOver())
		}
	}
}

// callOver is why a question ends whose call is over: with the whole session, it may be.
func (s *Session) callOver() *Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return &Cause{Source: inflight.SourceShutdown, Reason: "the session is closed", Force: true}
	case s.lost != nil:
		return &Cause{Source: inflight.SourceDisconnect, Reason: s.lost.Error(), Force: true}
	}
	return &Cause{Source: inflight.SourceParent, Reason: "the call that asked is over"}
}

// done lets the clocks of the calls go on that still wait.
func (q *question) done() {
	q.mu.Lock()
	holders := q.holders
	q.holders = nil
	q.mu.Unlock()
	for c := range holders {
		c.mu.Lock()
		if _, waits := c.questions[q]; waits {
			delete(c.questions, q)
			c.round.entry.Resume()
		}
		c.mu.Unlock()
	}
}

// questionEnded is the end of a question without an answer. To one whose time has passed the server gets one all the same.
func (s *Session) questionEnded(e *inflight.Entry, cause *Cause) {
	q, ok := e.Info().Values.(*question)
	if !ok {
		return // it waited for the result of a task
	}
	s.spawn(func() {
		if cause.Source == inflight.SourceTimeout && e.AnswerTimeout() {
			s.replyLate(q)
		}
		q.done()
		s.gone(q.Question, cause)
	})
}

func (s *Session) gone(q *Question, cause error) {
	if f := s.cfg.handlers.QuestionGone; f != nil {
		f(q, cause)
	}
}

func (s *Session) replyLate(q *question) {
	result, bad := late(q.dialect, q.op)
	if bad != nil {
		s.link.reply(rpc.AppendError(nil, q.id, bad))
		return
	}
	s.link.reply(rpc.AppendResult(nil, q.id, result))
}

// late is the answer of a user who has not given one.
func late(d *wire.Dialect, op wire.Op) ([]byte, *Error) {
	if op == wire.OpElicit {
		if result, err := elicitResult(d, &Answer{Action: Dismissed}, nil); err == nil {
			return result, nil
		}
	}
	return nil, rpc.Errorf(rpc.CodeInternalError, "not answered in time")
}

// newQuestion reads a question, or says why it can not be asked here.
func (s *Session) newQuestion(d *wire.Dialect, h *wire.Heard, params []byte) (*Question, *Error) {
	if !s.declares(d, h.Capability) {
		return nil, undeclared(h)
	}
	page := false
	for i := range h.Needs {
		n := &h.Needs[i]
		if !n.Takes(memberOf(params, n.Member)) {
			continue
		}
		if n.Capability == "" || !s.declares(d, n.Capability) {
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "this client has not declared what %s takes", n.Member)
		}
		page = page || n.Capability == d.Declares.ElicitationURL
	}
	layout := h.Params
	if page {
		layout = d.ElicitURL
	}
	var v wire.Values
	if params != nil {
		if err := layout.Read(params, &v); err != nil {
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "%v", err)
		}
	}
	q := &Question{
		Server: s.serverName(), Method: h.Name, Params: params, Message: v.Text(wire.SlotMessage), Schema: v[wire.SlotRequestedSchema],
		URL: v.Text(wire.SlotURL), ElicitationID: v.Text(wire.SlotElicitationID), Task: v.Text(wire.SlotRelatedTask),
	}
	if text := v[wire.SlotMessage]; h.Op == wire.OpElicit && (len(text) == 0 || text[0] != '"') {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "the message to the user is no text")
	}
	if h.Op == wire.OpElicit && !page {
		if _, err := readForm(q.Schema); err != nil {
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "%v", err)
		}
	}
	if page {
		u, err := url.Parse(q.URL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, rpc.Errorf(rpc.CodeInvalidParams, "%q is not the address of a web page", q.URL)
		}
		q.Host = u.Host
	}
	return q, nil
}

func undeclared(h *wire.Heard) *Error {
	return rpc.Errorf(rpc.CodeMethodNotFound, "this client has not declared %s", h.Capability)
}

func (s *Session) serverName() string {
	if s.cfg.serverName != "" {
		return s.cfg.serverName
	}
	var info struct{ Title, Name string }
	_ = json.Unmarshal(s.server.info, &info)
	if info.Title != "" {
		return info.Title
	}
	return info.Name
}

// declares tells whether this client has declared a capability.
func (s *Session) declares(d *wire.Dialect, path string) bool {
	var said serverSaid
	_ = json.Unmarshal(s.declare(d), &said.offers)
	return path != "" && said.offer(path)
}

// memberOf is the value of a member of an object; nil: it has none.
func memberOf(object []byte, name string) []byte {
	if object == nil {
		return nil
	}
	d := check.GetScanned(object, check.Limits{})
	defer d.Put()
	var found []byte
	for i := d.Object(nil); i != -1; i = d.Next() {
		if at := d.Key() == name; at {
			found = d.Alias(nil)
		} else {
			d.Skip()
		}
	}
	return found
}

// answer has a handler answer a question.
func (s *Session) answer(ctx context.Context, d *wire.Dialect, op wire.Op, q *Question) ([]byte, *Error) {
	result, err := s.handle(ctx, d, op, q)
	var own *Error
	switch {
	case err == nil:
		return result, nil
	case errors.As(err, &own) && own != nil && sendable(own):
		return nil, own
	case errors.Is(err, ErrRejected):
		return nil, rpc.Errorf(codeRejected, "rejected by the user")
	}
	if ctx.Err() == nil {
		s.cfg.logger.Error("a question was not answered", "method", q.Method, "error", err)
	}
	return nil, rpc.Errorf(rpc.CodeInternalError, "%v", err)
}

// sendable tells whether a handler's error may be sent: a reserved code means what the specification says, or nothing (LET05), and data
// that is no JSON would break the frame (LET01).
func sendable(own *Error) bool {
	return !own.Reserved() && (own.Data == nil || check.Valid(own.Data, check.Limits{}) == nil)
}

func (s *Session) handle(ctx context.Context, d *wire.Dialect, op wire.Op, q *Question) ([]byte, error) {
	h := &s.cfg.handlers
	switch op {
	case wire.OpElicit:
		ask := h.Elicit
		if q.URL != "" {
			ask = h.OpenURL
		}
		a, err := ask(ctx, q)
		if err != nil {
			return nil, err
		}
		return elicitResult(d, a, q)
	case wire.OpCreateMessage:
		if err := checkMessages(q.Params); err != nil {
			return nil, err
		}
		result, err := h.Sample(ctx, q)
		if err == nil {
			err = objectError(result)
		}
		return result, err
	default:
		roots, err := h.Roots(ctx, q)
		if err != nil {
			return nil, err
		}
		return rootList(roots)
	}
}

func objectError(raw []byte) error {
	if err := check.Valid(raw, check.Limits{}); err != nil {
		return err
	}
	if raw = bytes.TrimSpace(raw); raw[0] != '{' {
		return errors.New("the result is no JSON object")
	}
	return nil
}

func rootList(roots []Root) ([]byte, error) {
	for _, r := range roots {
		if !strings.HasPrefix(strings.ToLower(r.URI), "file://") {
			return nil, errors.New("the root " + r.URI + " is no file:// address")
		}
	}
	if roots == nil {
		roots = []Root{}
	}
	return json.Marshal(struct {
		Roots []Root `json:"roots"`
	}{roots})
}

// elicitResult is the answer of a user. What was accepted is held against the form, and completed.
func elicitResult(d *wire.Dialect, a *Answer, q *Question) ([]byte, error) {
	var v wire.Values
	v.SetText(wire.SlotAction, string(a.Action))
	switch {
	case a.Action != Accepted && a.Action != Declined && a.Action != Dismissed:
		return nil, errors.New("unknown action " + string(a.Action))
	case a.Action == Accepted && q.URL == "":
		content, err := q.Complete(a.Content)
		if err != nil {
			return nil, err
		}
		v[wire.SlotContent] = content
	}
	return d.ElicitResult.Append(nil, &v, nil)
}
