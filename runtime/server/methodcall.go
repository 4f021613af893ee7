package server

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// callMethod serves a request by the definition's handler for it.
func (r *request) callMethod(b []byte) ([]byte, error) {
	call := r.newCall()
	defer call.close()
	if err := call.resume(); err != nil {
		return b, err
	}
	start := len(b)
	if r.method.Op != OpMethod && r.p.subscribedTo(r.params.URI) == (r.method.Op == OpSubscribe) {
		return r.complete(append(b, "{}"...), start), nil // the application hears of pairs
	}
	b, err := r.wire.handlers[r.method.Name].run(r.entry, call, orEmpty(r.raw), b)
	if call.suspend() {
		return b, context.Cause(r.entry)
	}
	if err != nil {
		return b, call.methodError(err)
	}
	if r.method.Op != OpMethod {
		if err := r.subscribe(r.method.Op == OpSubscribe); err != nil {
			return b, err
		}
	}
	return r.complete(b, start), nil
}

// methodError is what a handler's error becomes.
func (c *Call) methodError(err error) error {
	var invalid *inputError
	if errors.As(err, &invalid) {
		return invalidParams(c.entry.Info().Method, invalid.err)
	}
	if broken := (*outputError)(nil); errors.As(err, &broken) {
		method := c.entry.Info().Method
		c.Log().Error("output refused", "method", method, "error", broken.err)
		return rpc.Errorf(rpc.CodeInternalError, "the result of %s %s", method, broken.message())
	}
	if f := c.fault(err); f != nil {
		if _, own := c.wire.answer(f); own != nil {
			return own
		}
	}
	if c.entry.Err() == nil {
		c.Log().Error("method failed", "method", c.entry.Info().Method, "error", err)
	}
	return errInternal
}

// complete adds to the result in b, which begins at start, what every result of the revision carries (EXT20). The handler decides how
// long its result may be kept; the server sets the type of the result and its own name, and that a retry's is never kept (LET21).
func (r *request) complete(b []byte, start int) []byte {
	rules := &r.wire.Result
	if rules.Type == "" {
		return b
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(b[start:], &members) != nil {
		return b
	}
	meta := r.metaWithServer(members[r.wire.metaMember])
	own := []string{rules.Type, r.wire.metaMember}
	if r.method.Cacheable && r.retried() {
		own = append(own, rules.CacheTTL, rules.CacheScope)
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
		ttl, scope := r.cacheHint()
		add(rules.CacheTTL, MillisOf(ttl).AppendJSON(nil))
		add(rules.CacheScope, check.AppendString(nil, scope))
	}
	add(r.wire.metaMember, meta)
	return append(b, '}')
}

// without takes members out of the result in b, if they are there.
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

// cacheHint is how long a handler's result may be kept, and by whom. What an identity reads may be for nobody else, and the result of a
// retry depends on its answers.
func (r *request) cacheHint() (ttl time.Duration, scope string) {
	switch cfg := &r.p.s.cfg; {
	case r.retried():
		return 0, cachePrivate
	case r.p.principal != "":
		return cfg.cacheTTL, cachePrivate
	default:
		return cfg.cacheTTL, cfg.cacheScope
	}
}

// member reads a string member of a JSON object, "" when it is not there or no string.
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
