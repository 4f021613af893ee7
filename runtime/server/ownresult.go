package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// A result of middleware's own is one that it returns in place of next's, or without calling next. It follows the rules for handlers: it fits its
// definition and the tool's outputSchema, it loses structured content where the revision has none, the members and keys in rev.Own (the result's type,
// server and task) belong to the runtime, and no error has a code that the protocol reserves (LET01, LET05, VAL01). A block that the revision does not
// have is refused: it may be one that no revision has. In this file, served has the members of next's result, nil if next was not called.

// replace puts a result of middleware's own in place of next's result, which is b[start:], empty if next was not called. The runtime's members and
// keys of _meta in next's result are kept.
func (r *request) replace(b []byte, start int, result []byte) ([]byte, error) {
	s, rev := r.p.s, r.revision
	if err := r.reservation.reserve(r.ctx, int64(len(result))); err != nil {
		return b[:start], err
	}
	b = r.dropPlaceholders(b, start)
	members, served := membersOf(result), membersOf(b[start:])
	resultType := rev.incompleteType(members, served)
	err := r.wellFormed(result, members)
	if err == nil {
		err = r.dropStructured(members)
	}
	if err == nil {
		b, err = r.appendOwn(b[:start], start, members, served, resultType)
		if refused := (*rpc.Error)(nil); errors.As(err, &refused) {
			return b, err
		}
	}
	if err == nil {
		err = r.validateOwn(b[start:], served, resultType)
	}
	if err != nil {
		return b[:start], s.misuse(nil, "a middleware answered %s with what is invalid: %v", r.method.Name, err)
	}
	if r.outcome == BecameTask && !r.tellsOfTask(resultType) {
		r.entry.Unprotect()
	}
	return b, nil
}

// wellFormed returns an error if a result of middleware's own is malformed, before the runtime adds to it.
func (r *request) wellFormed(result []byte, members map[string]json.RawMessage) error {
	if members == nil {
		return errors.New("it is not a JSON object")
	}
	if err := r.p.s.validate(result, nil); err != nil {
		return err
	}
	if meta := members[r.revision.metaMember]; meta != nil && membersOf(meta) == nil {
		return fmt.Errorf("its %s is not a JSON object", r.revision.metaMember)
	}
	return nil
}

// dropStructured removes the structured content of a tool's result where the revision has none, once it is validated as in other revisions (REV06).
func (r *request) dropStructured(members map[string]json.RawMessage) error {
	name := r.p.s.structuredMember()
	output := members[name]
	if r.method.Op != wire.OpCallTool || r.revision.structuredMember != "" || output == nil {
		return nil
	}
	delete(members, name)
	return r.checkStructured(r.tool, name, output)
}

// structuredMember is the member of a tool's result that has its structured content, in the newest served revision with one; "" for none.
func (s *Server) structuredMember() string {
	for _, rev := range s.revisions {
		if rev.structuredMember != "" {
			return rev.structuredMember
		}
	}
	return ""
}

// appendOwn appends a result of middleware's own, with the runtime's members. resultType is the type of a result that is not complete, nil
// for others.
func (r *request) appendOwn(b []byte, start int, members, served map[string]json.RawMessage, resultType []byte) ([]byte, error) {
	rev := r.revision
	reserved := rev.serverMeta
	if served != nil {
		reserved = rev.reservedKeys(served[rev.metaMember])
	}
	meta := rev.metaWith(reserved, members[rev.metaMember])
	delete(members, rev.metaMember)
	for _, name := range rev.Own.Result { // names that belong to the runtime (wire.Own), which middleware can not set
		delete(members, name)
	}
	if resultType == nil && r.method.Result == "" { // no revision defines the method
		if err := r.validateUndefined(members); err != nil {
			return b, err
		}
	}
	if resultType != nil {
		members[rev.Result.Type] = resultType
	}
	if rev.Result.Type == "" && len(meta) > len("{}") || resultType != nil {
		members[rev.metaMember] = meta
	}
	result, _ := json.Marshal(members) // no value of these types fails
	b = append(b, result...)
	if rev.Result.Type == "" || resultType != nil {
		return b, nil
	}
	return r.completeMembers(b, start, members, meta)
}

// incompleteType returns the type of a result that is not complete, nil for a complete one and for revisions without types. Middleware can
// not choose it: it is that of the result that next returned.
func (rev *revision) incompleteType(members, served map[string]json.RawMessage) json.RawMessage {
	complete := string(check.AppendString(nil, rev.Result.Complete))
	if stated := members[rev.Result.Type]; stated == nil || string(stated) == complete || string(served[rev.Result.Type]) == complete {
		return nil
	}
	return served[rev.Result.Type]
}

// validateUndefined validates a result of a method that the protocol does not define, without the runtime's members.
func (r *request) validateUndefined(members map[string]json.RawMessage) error {
	h := r.revision.handlers[r.method.Name]
	if h == nil || h.check == nil {
		return nil
	}
	rest, _ := json.Marshal(members) // no value of these types fails
	return r.p.s.validate(rest, h.check)
}

// tellsOfTask reports whether a result of middleware's own is that of a request which became a task; resultType as for appendOwn.
func (r *request) tellsOfTask(resultType []byte) bool {
	rev := r.revision
	return r.task && rev.Result.Type == "" || string(resultType) == string(check.AppendString(nil, rev.Result.Task))
}

// validateOwn validates a result of middleware's own, as the client will read it, by the definition in the revision, and the output of a tool
// by its outputSchema. resultType is the type of a result that is not complete, nil for others.
func (r *request) validateOwn(result []byte, served map[string]json.RawMessage, resultType []byte) error {
	rev, definition := r.revision, r.method.Result
	created := r.tellsOfTask(resultType)
	switch {
	case created:
		definition = rev.TaskCreated
	case resultType != nil:
		// It is input_required: a tool that runs as a task asks before the task exists. No other question is a result that middleware sees
		// (WithMiddleware).
		return nil
	}
	if err := r.validateBy(definition, r.withoutAsked(result, served)); err != nil || created {
		return err
	}
	switch members := membersOf(result); r.method.Op {
	case wire.OpCallTool, wire.OpTaskResult:
		return r.validateOutput(members, served)
	case wire.OpGetTask:
		return r.validateTask(members, served)
	}
	return nil
}

func (r *request) validateBy(definition string, result []byte) error {
	if definition == "" {
		return nil
	}
	hidden := ""
	if t := r.toolOfResult(); t != nil {
		hidden = t.Handler.hidden
	}
	return r.revision.defined.Check(definition, result, r.p.s.cfg.limits, hidden)
}

// withoutAsked returns the answer about a task without the questions that next returned: some are custom requests, which no revision defines.
func (r *request) withoutAsked(result []byte, served map[string]json.RawMessage) []byte {
	write := r.revision.AppendTaskDetail
	if r.method.Op != wire.OpGetTask || write == nil {
		return result
	}
	name := memberWithMarker(write(nil, &wire.TaskView{InputRequests: marker}))
	asked := membersOf(served[name])
	if len(asked) == 0 {
		return result
	}
	members := membersOf(result)
	questions := membersOf(members[name])
	maps.DeleteFunc(questions, func(key string, q json.RawMessage) bool { return bytes.Equal(q, asked[key]) })
	if questions != nil {
		members[name], _ = json.Marshal(questions) // no value of these types fails
	}
	result, _ = json.Marshal(members) // likewise
	return result
}

// toolOfResult returns the tool that is called, or whose task the request is about; nil for none, and for one that is unknown by now.
func (r *request) toolOfResult() *Tool {
	return cmp.Or(r.tool, r.taskTool)
}

// validateTask validates a tool's result within the answer about its task, unless it is the one that next returned.
func (r *request) validateTask(members, served map[string]json.RawMessage) error {
	rev := r.revision
	if rev.AppendTaskDetail == nil {
		return nil
	}
	name := memberWithMarker(rev.AppendTaskDetail(nil, &wire.TaskView{Result: marker}))
	result := members[name]
	if name == "" || result == nil || bytes.Equal(result, served[name]) {
		return nil
	}
	if call := rev.methodOf(wire.OpCallTool); call != nil {
		if err := r.validateBy(call.Result, result); err != nil {
			return fmt.Errorf("/%s: %w", name, err)
		}
	}
	return r.validateOutput(membersOf(result), membersOf(served[name]))
}

// validateOutput validates the structured output of a tool by its outputSchema (VAL01), unless it is the one that next returned.
func (r *request) validateOutput(members, served map[string]json.RawMessage) error {
	rev, t := r.revision, r.toolOfResult()
	if t == nil || !t.Handler.structured() || rev.structuredMember == "" {
		return nil
	}
	output, failed := members[rev.structuredMember], string(members[rev.errorMember]) == "true"
	switch {
	case served != nil && bytes.Equal(output, served[rev.structuredMember]) && bytes.Equal(members[rev.errorMember], served[rev.errorMember]):
		return nil
	case output == nil && failed:
		return nil
	case output == nil:
		return fmt.Errorf("%s: %w", rev.structuredMember, errNoOutput)
	}
	return r.checkStructured(t, rev.structuredMember, output)
}

// checkStructured validates the output in the member of that name, if the tool has an outputSchema.
func (r *request) checkStructured(t *Tool, member string, output []byte) error {
	if !t.Handler.structured() {
		return nil
	}
	if err := t.Handler.checkOutput(output, r.p.s.cfg.limits, t.Handler.hidden); err != nil {
		return fmt.Errorf("%s: %w", member, err)
	}
	return nil
}

// marker is written into a sample by a function of the revision, to find the name of the member that has it.
var marker = []byte(`{"own":0}`)

// memberWithMarker returns the name of the member whose value is the marker, "" for none.
func memberWithMarker(object []byte) string { return memberThatIs(object, string(marker)) }

func memberThatIs(object []byte, value string) string {
	for name, v := range membersOf(object) {
		if string(v) == value {
			return name
		}
	}
	return ""
}

// ownError returns the error that the client gets for an error of middleware's own.
func (s *Server) ownError(m *Message, err error) error {
	if misused := (*misuseError)(nil); errors.As(err, &misused) {
		return errInternal // it is logged
	}
	own, served := (*rpc.Error)(nil), (*rpc.Error)(nil)
	if errors.As(err, &own) && own != nil && errors.As(m.served, &served) && own.Code == served.Code && s.validate(orEmpty(own.Data), nil) == nil {
		return own // that of next, with a message or data of middleware's own
	}
	log := s.log.With("message", m.String())
	if own := m.revision.clientError(s, err, m.can, log); own != nil {
		return own
	}
	log.Error("message failed", "error", err)
	return errInternal
}
