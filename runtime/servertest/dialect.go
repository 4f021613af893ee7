package servertest

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// The names of the JSON members that a client writes and reads are here. Names of methods and capabilities, and rules, come from wire.Revision, which
// does not have these. The members in which revisions differ are in dialect.

// object is a JSON object to be sent.
type object = map[string]any

// dialect has the names that differ between revisions with and without a handshake.
type dialect struct {
	capabilities, clientInfo, logLevel string // keys of the _meta of every request; "" with a handshake
	created                            string // the member of an answer that has the new task; "": the answer itself is the task
	ttl, pollInterval                  string // of a task
}

var (
	withHandshake = dialect{created: "task", ttl: "ttl", pollInterval: "pollInterval"}
	stateless     = dialect{
		capabilities: "io.modelcontextprotocol/clientCapabilities",
		clientInfo:   "io.modelcontextprotocol/clientInfo",
		logLevel:     "io.modelcontextprotocol/logLevel",
		ttl:          "ttlMs",
		pollInterval: "pollIntervalMs",
	}
)

func dialectOf(w *wire.Revision) *dialect {
	if w.Handshake {
		return &withHandshake
	}
	return &stateless
}

var clientInfo = object{"name": "servertest", "version": "1"}

func (c *Client) initialize() object {
	return object{"protocolVersion": c.revision.Version, "capabilities": c.capabilities, "clientInfo": clientInfo}
}

// withMeta returns the params with the _meta that every request has.
func (c *Client) withMeta(params object, o *callConfig, token rpc.ID) object {
	meta := maps.Clone(o.meta)
	if meta == nil {
		meta = object{}
	}
	if !c.revision.Handshake {
		meta[c.revision.Meta.ProtocolVersion] = c.revision.Version
		meta[c.dialect.clientInfo] = clientInfo
		meta[c.dialect.capabilities] = c.capabilities
		if o.inline {
			meta[c.dialect.capabilities] = without(c.capabilities, c.revision.Capabilities.ClientTasks)
		}
		if level := c.cfg.logLevel; level != "" {
			meta[c.dialect.logLevel] = level
		}
	}
	if !token.IsZero() {
		meta["progressToken"] = json.RawMessage(token.String())
	}
	if len(meta) == 0 {
		return params
	}
	params = maps.Clone(params)
	if params == nil {
		params = object{}
	}
	params["_meta"] = meta
	return params
}

func (c *Client) callTool(tool string, in json.RawMessage, o *callConfig) object {
	params := object{"name": tool}
	if len(in) > 0 {
		params["arguments"] = in
	}
	if !c.revision.Task.ClientDecides || !o.asTask {
		return params
	}
	asked := object{}
	if o.ttl > 0 {
		asked["ttl"] = o.ttl.Milliseconds()
	}
	params["task"] = asked
	return params
}

// inputRequest is one question of a result or task that asks.
type inputRequest struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// asks returns the questions of a result that asks for input, and the state that goes back with the answers.
func (c *Client) asks(result json.RawMessage) (questions map[string]inputRequest, state *string, ok bool) {
	rules := &c.revision.Result
	if rules.Type == "" || textMember(result, rules.Type) != rules.InputRequired {
		return nil, nil, false
	}
	var asked struct {
		InputRequests map[string]inputRequest `json:"inputRequests"`
		RequestState  *string                 `json:"requestState"`
	}
	_ = json.Unmarshal(result, &asked)
	return asked.InputRequests, asked.RequestState, true
}

// madeTask returns the new task that a call is answered with; nil: the answer is the tool's result.
func (c *Client) madeTask(result json.RawMessage) *TaskState {
	rules := &c.revision.Result
	switch {
	case rules.Type != "" && textMember(result, rules.Type) == rules.Task:
		return c.readTask(result)
	case c.revision.Task.ClientDecides && c.dialect.created != "":
		if created := membersOf(result)[c.dialect.created]; created != nil {
			return c.readTask(created)
		}
	}
	return nil
}

// readTask decodes a task; nil: raw is none.
func (c *Client) readTask(raw json.RawMessage) *TaskState {
	m := membersOf(raw)
	s := &TaskState{result: m["result"], Message: textOf(m["statusMessage"]), ID: textOf(m["taskId"]), Status: task.Status(textOf(m["status"]))}
	if s.ID == "" {
		return nil
	}
	_ = json.Unmarshal(m["createdAt"], &s.CreatedAt)
	_ = json.Unmarshal(m["lastUpdatedAt"], &s.UpdatedAt)
	_ = json.Unmarshal(m["inputRequests"], &s.questions)
	if m["error"] != nil {
		s.err, _ = rpc.ReadError(m["error"])
	}
	s.TTL, s.PollInterval = millis(m[c.dialect.ttl], -1), millis(m[c.dialect.pollInterval], 0)
	return s
}

// millis decodes a number of milliseconds; it returns none for null and for an absent one.
func millis(raw json.RawMessage, none time.Duration) time.Duration {
	var n *int64
	if json.Unmarshal(raw, &n) != nil || n == nil {
		return none
	}
	return time.Duration(*n) * time.Millisecond
}

// declare adds the capability at path to the capabilities of a client; "": none.
func declare(all object, path string) {
	if path == "" {
		return
	}
	for name := range wire.Steps(path) {
		inner, ok := all[name].(object)
		if !ok {
			inner = object{}
			all[name] = inner
		}
		all = inner
	}
}

// declared reports whether the capability at path is among the capabilities of a client.
func declared(all object, path string) bool {
	if path == "" {
		return false
	}
	for name := range wire.Steps(path) {
		inner, ok := all[name].(object)
		if !ok {
			return false
		}
		all = inner
	}
	return true
}

// without returns the capabilities of a client without the one at path; all itself is not changed.
func without(all object, path string) object {
	if !declared(all, path) {
		return all
	}
	all = maps.Clone(all)
	at, last := all, ""
	for name := range wire.Steps(path) {
		if last != "" {
			inner := maps.Clone(at[last].(object))
			at[last] = inner
			at = inner
		}
		last = name
	}
	delete(at, last)
	return all
}

func membersOf(raw json.RawMessage) (m map[string]json.RawMessage) {
	_ = json.Unmarshal(raw, &m)
	return m
}

func textMember(raw json.RawMessage, name string) string { return textOf(membersOf(raw)[name]) }

func textOf(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}
