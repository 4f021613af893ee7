package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Question is a question of a server: a request, or a part of a result or a task. Handlers need not know which.
type Question struct {
	Server  string // who asks: the host's name for it (WithServerName), else the server's own
	Method  string
	Params  json.RawMessage // the whole question, a JSON object
	Message string          // to the user
	Schema  json.RawMessage // of a form
	URL     string          // of a web page
	Host    string          // in URL
	// ElicitationID is that of the page in Handlers.PageDone; "" if there is no such notification.
	ElicitationID string
	// Task is the id of the task that asks, "" for none.
	Task string
	// Key tells the questions of one result or task apart, if it is Keyed: "" is a key, too. Requests have none.
	Key   string
	Keyed bool
}

// Action is a user's reaction to a question.
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
	// Content is what the user filled in, by the names of the form's fields: a map, or anything else that json.Marshal encodes as an object.
	// Fields that are missing get their defaults.
	Content any
}

// ErrRejected is for Handlers.Sample to return if the user does not allow it.
var ErrRejected = errors.New("client: rejected by the user")

// newQuestion reads a question. The error is the one with which to answer it; the question then has what could be read.
func (s *Session) newQuestion(d *wire.Dialect, h *wire.Incoming, params []byte) (*Question, *Error) {
	q := &Question{Server: s.serverName(), Method: h.Name, Params: params, Task: relatedTask(d, params)}
	return q, s.readQuestion(q, d, h)
}

// relatedTask returns the id of the task that the params of a request, or a result, are about; "" for none.
func relatedTask(d *wire.Dialect, message []byte) string {
	var about struct {
		Meta struct {
			Related struct {
				TaskID string `json:"taskId"`
			} `json:"io.modelcontextprotocol/related-task"`
		} `json:"_meta"`
	}
	if d.HasTasks && message != nil {
		_ = exact.Unmarshal(message, &about)
	}
	return about.Meta.Related.TaskID
}

// readQuestion reads the params of a question into its other fields.
func (s *Session) readQuestion(q *Question, d *wire.Dialect, h *wire.Incoming) *Error {
	params := q.Params
	if !s.declares(d, h.Capability) {
		return undeclared(h)
	}
	if member := unknownKind(h, params); member != "" {
		return rpc.Errorf(rpc.CodeInvalidParams, "the revision has no such %s: %s", member, rpc.Printable(rpc.CutTo(string(memberOf(params, member)), maxBeginning)))
	}
	page := false
	for i := range h.Needs {
		n := &h.Needs[i]
		if !n.Applies(memberOf(params, n.Member)) {
			continue
		}
		if n.Capability == "" || !s.declares(d, n.Capability) {
			return rpc.Errorf(rpc.CodeInvalidParams, "this client has not declared what %s takes", n.Member)
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
			return rpc.Errorf(rpc.CodeInvalidParams, "%v", err)
		}
	}
	q.Message, q.Schema = v.Text(wire.SlotMessage), v[wire.SlotRequestedSchema]
	q.URL, q.ElicitationID = v.Text(wire.SlotURL), v.Text(wire.SlotElicitationID)
	if text := v[wire.SlotMessage]; h.Op == wire.OpElicit && (len(text) == 0 || text[0] != '"') {
		return rpc.Errorf(rpc.CodeInvalidParams, "the message to the user is no text")
	}
	if h.Op == wire.OpElicit && !page {
		if err := checkForm(q.Schema); err != nil {
			return rpc.Errorf(rpc.CodeInvalidParams, "/requestedSchema%v", err)
		}
	}
	if h.Op == wire.OpCreateMessage {
		if err := checkSample(params); err != nil {
			return rpc.Errorf(rpc.CodeInvalidParams, "%v", err)
		}
	}
	if page && layout.Has(wire.SlotElicitationID) && q.ElicitationID == "" {
		return rpc.Errorf(rpc.CodeInvalidParams, "/elicitationId: it must be a string, and not empty")
	}
	if page {
		u, err := url.Parse(q.URL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return rpc.Errorf(rpc.CodeInvalidParams, "%q is not the address of a web page", q.URL)
		}
		q.Host = u.Host
	}
	return nil
}

// unknownKind returns the name of a member of a question's params that says which kind of question it is, such as mode, if the revision does not have that
// kind; "" for none. A member that is null says nothing.
func unknownKind(h *wire.Incoming, params []byte) string {
	for i := range h.Needs {
		n := &h.Needs[i]
		if !n.Default { // a question without the member is of one of the kinds, too
			continue
		}
		value := memberOf(params, n.Member)
		known := slices.ContainsFunc(h.Needs, func(other wire.Need) bool { return other.Member == n.Member && other.Applies(value) })
		if !known && string(value) != "null" {
			return n.Member
		}
	}
	return ""
}

func undeclared(h *wire.Incoming) *Error {
	return rpc.Errorf(rpc.CodeMethodNotFound, "this client has not declared %s", h.Capability)
}

func (s *Session) serverName() string { return cmp.Or(s.cfg.serverName, s.ServerTitle()) }

// declares reports whether this client has declared a capability.
func (s *Session) declares(d *wire.Dialect, path string) bool {
	var own declaration
	_ = json.Unmarshal(s.declare(d), &own.offers)
	return path != "" && own.offer(path)
}

// memberOf returns the value of a member of an object; nil: it has none.
func memberOf(object []byte, name string) []byte {
	if object == nil {
		return nil
	}
	d := check.GetScanned(object, check.Limits{})
	defer d.Put()
	var found []byte
	for i := d.Object(nil); i != -1; i = d.Next() {
		if d.Key() == name {
			found = d.Alias(nil)
		} else {
			d.Skip()
		}
	}
	return found
}
