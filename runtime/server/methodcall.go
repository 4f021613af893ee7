package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// callMethod serves a request with the handler that the Definition has for its method.
func (r *request) callMethod(b []byte) ([]byte, error) {
	start, ofSubscription := len(b), r.method.Op != wire.OpMethod
	on := r.method.Op == wire.OpSubscribe // else it is unsubscribe
	if ofSubscription && r.p.subscribedTo(r.params.URI) == on {
		return r.complete(append(b, "{}"...), start) // it changes nothing, so the handler is not called
	}
	handler := r.revision.handlers[r.method.Name]
	b, err := r.withCall(b, func(b []byte, call *Call) ([]byte, error) {
		return handler.run(r.ctx, call, orEmpty(r.raw), b)
	})
	if err != nil {
		return b, err
	}
	if ofSubscription {
		if err := r.subscribe(on); err != nil {
			return b, err
		}
	}
	return r.complete(b, start)
}

// withCall makes a Call for the request and has run append the result of the handler. If the handler asks the client, the run ends (Call.suspend). An
// error of the handler becomes a JSON-RPC error.
func (r *request) withCall(b []byte, run func(b []byte, call *Call) ([]byte, error)) ([]byte, error) {
	call := r.newCall()
	defer call.close()
	if err := call.resume(); err != nil {
		return b, err
	}
	b, err := run(b, call)
	if ended := call.suspend(&r.reservation); ended != nil {
		return b, ended
	}
	if err == nil {
		return b, nil
	}
	err = call.methodError(err)
	if instead, late := r.refusedTooLate(err); late {
		err = instead
	}
	return b, err
}

// methodError returns the JSON-RPC error that answers the request when its handler has failed with err.
func (c *Call) methodError(err error) error {
	if wrong := (*inputError)(nil); errors.As(err, &wrong) {
		return invalidParams(c.entry.Info().Method, wrong.err)
	}
	if broken := (*outputError)(nil); errors.As(err, &broken) {
		method := c.entry.Info().Method
		c.Log().Error("output refused", "method", method, "error", broken.logged())
		return rpc.Errorf(rpc.CodeInternalError, "the result of %s %s", method, broken.message())
	}
	if own := c.revision.clientError(c.s, err, c.can, c.Log()); own != nil {
		if own.Code == c.revision.Codes.MissingCapability {
			c.dropWithheld()
		}
		return own
	}
	if c.entry.Err() == nil {
		c.Log().Error("method failed", "method", c.entry.Info().Method, "error", err)
	}
	return errInternal
}

// complete adds to a handler's result, which is b[start:], the members that every result of the revision has (EXT20).
func (r *request) complete(b []byte, start int) ([]byte, error) {
	rev := r.revision
	if rev.Result.Type == "" {
		if without, changed := rev.withoutOwnMembers(b[start:], rev.Own.Result); changed {
			b = append(b[:start], without...)
		}
		return b, nil
	}
	members := membersOf(b[start:])
	if members == nil {
		return b, nil
	}
	return r.completeMembers(b, start, members, rev.metaWith(rev.serverMeta, members[rev.metaMember]))
}

// completeMembers is complete for a result of which members are the decoded members; its _meta becomes meta. The handler decides how long the result
// may be cached; the server sets its type, and lets no client cache the result of a retry (LET21).
func (r *request) completeMembers(b []byte, start int, members map[string]json.RawMessage, meta []byte) ([]byte, error) {
	rules := &r.revision.Result
	ttl, scope := r.cacheHint()
	list := r.revision.lists[r.method.Name]
	if list != nil {
		var err error
		if scope, err = list.oneScope(r, cmp.Or(string(members[rules.CacheScope]), string(check.AppendString(nil, scope)))); err != nil {
			return b, err
		}
	}
	own := []string{rules.Type, r.revision.metaMember}
	if r.method.Cacheable && r.retried() {
		own = append(own, rules.CacheTTL, rules.CacheScope)
	}
	if list != nil {
		own = append(own, rules.CacheScope)
	}
	b = without(b, start, members, own)
	b = b[:len(b)-1]
	add := func(name string, value []byte) {
		if members[name] == nil {
			b = append(check.Member(b, string(check.AppendString(nil, name))+":"), value...)
		}
	}
	add(rules.Type, check.AppendString(nil, rules.Complete))
	if r.method.Cacheable {
		add(rules.CacheTTL, wire.MillisOf(ttl).AppendJSON(nil))
		add(rules.CacheScope, check.AppendString(nil, scope))
	}
	add(r.revision.metaMember, meta)
	return append(b, '}'), nil
}

// without removes the members with these names from the result, which is b[start:].
func without(b []byte, start int, members map[string]json.RawMessage, names []string) []byte {
	n := len(members)
	for _, name := range names {
		delete(members, name)
	}
	if len(members) == n {
		return b
	}
	rest, _ := json.Marshal(members) // no value of these types fails
	return append(b[:start], rest...)
}

// cacheHint returns how long a handler's result may be cached, and by whom. What a caller with an identity gets may be for nobody else,
// and the result of a retry depends on the client's answers.
func (r *request) cacheHint() (ttl time.Duration, scope string) {
	switch cfg := &r.p.s.cfg; {
	case r.retried():
		return 0, cachePrivate
	case r.p.who.principal != "":
		return cfg.cacheTTL, cachePrivate
	default:
		return cfg.cacheTTL, cfg.cacheScope
	}
}

// member reads a string member of a JSON object, "" when it is missing or not a string.
func member(object []byte, name string) string {
	d := check.Get(object, check.Limits{})
	defer d.Put()
	value := ""
	for f := d.Object(nil); f >= 0; f = d.Next() {
		if d.Key() == name {
			value = d.String(nil)
		} else {
			d.Skip()
		}
	}
	return value
}
