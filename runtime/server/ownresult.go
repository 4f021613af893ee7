package server

import (
	"encoding/json"
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// What middleware answers itself, or makes of what next returned, keeps the rules that hold for handlers: it fits its definition, what the
// protocol defines beside that is the runtime's, and no error has a code that the protocol reserves (LET01, LET05).

// replace puts a result of middleware's own in the place of the one in b, if any. What the runtime wrote there under names of its own stays.
func (r *request) replace(b []byte, start int, result []byte) ([]byte, error) {
	s, rev := r.p.s, r.revision
	if err := r.reservation.reserve(r.ctx, int64(len(result))); err != nil {
		return b[:start], err
	}
	members, ours := membersOf(result), membersOf(b[start:])
	own := rev.serverMeta
	if ours != nil {
		own = rev.ownKeys(ours[rev.metaMember])
	}
	meta, kind := rev.metaWith(own, members[rev.metaMember]), rev.typeOf(members, ours)
	delete(members, rev.metaMember)
	for _, name := range rev.Own.Result {
		delete(members, name)
	}
	if err := r.validateOwn(result, members, kind); err != nil {
		return b[:start], s.misuse(nil, "a middleware answered %s with what is invalid: %v", r.method.Name, err)
	}
	if kind != nil {
		members[rev.Result.Type] = kind
	}
	if rev.Result.Type == "" && len(meta) > len("{}") || kind != nil {
		members[rev.metaMember] = meta
	}
	result, _ = json.Marshal(members) // no value of these types fails
	b = append(b[:start], result...)
	if rev.Result.Type == "" || kind != nil {
		return b, nil
	}
	return r.completeMembers(b, start, members, meta)
}

// typeOf is the type of a result that is neither complete nor of a revision without types: then it is what next returned, and not by
// middleware's word alone.
func (rev *revision) typeOf(members, ours map[string]json.RawMessage) json.RawMessage {
	complete := string(check.AppendString(nil, rev.Result.Complete))
	if own := members[rev.Result.Type]; own == nil || string(own) == complete || string(ours[rev.Result.Type]) == complete {
		return nil
	}
	return ours[rev.Result.Type]
}

// validateOwn validates a result of middleware's own by its definition, which says nothing of what is the runtime's. members has the rest,
// kind is the type of one that is not complete.
func (r *request) validateOwn(result []byte, members map[string]json.RawMessage, kind []byte) error {
	s := r.p.s
	if members == nil {
		return errors.New("it is not a JSON object")
	}
	if err := s.validate(result, nil); err != nil {
		return err
	}
	var definition func(d *check.Decoder)
	switch h := r.revision.handlers[r.method.Name]; {
	case kind != nil || r.task && r.revision.Result.Type == "": // a task, or a question
	case r.method.Op == wire.OpCallTool:
		definition = r.revision.CheckCallResult
	case h != nil:
		definition = h.check
	}
	if definition == nil {
		return nil
	}
	rest, _ := json.Marshal(members) // no value of these types fails
	return s.validate(rest, definition)
}

// ownError is an error of middleware's own.
func (s *Server) ownError(m *Message, err error) error {
	if misused := (*misuseError)(nil); errors.As(err, &misused) {
		return errInternal // it is logged
	}
	own, served := (*rpc.Error)(nil), (*rpc.Error)(nil)
	if errors.As(err, &own) && own != nil && errors.As(m.served, &served) && own.Code == served.Code && s.validate(orEmpty(own.Data), nil) == nil {
		return own // that of next, with words of middleware's own
	}
	log := s.log.With("message", m.String())
	if own := m.revision.clientError(s, err, m.can, log); own != nil {
		return own
	}
	log.Error("message failed", "error", err)
	return errInternal
}
