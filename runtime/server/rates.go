package server

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/quota"
	"github.com/mcpkiln/mcpkiln/runtime/internal/rate"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Rates limit how often one caller may send requests (LET03), per second; after a pause, as many as in ten seconds may come at once. A
// zero field means its default, a negative one no limit. The error of a refused request says how long to wait: in its message, as
// retryAfterMs in its data, and over HTTP without a session as status 429 with Retry-After.
//
// A caller is a principal, else what a quota key names (WithQuotaKey), else a connection; over HTTP all others without an identity count as one,
// however many sessions they open, since sessions cost nothing. The defaults of Calls, Methods and Tasks are for callers with an identity or quota key
// that come over HTTP: a connection, standard input and output above all, has one client, which can only slow itself down; and nobody should be refused
// because of somebody else. A rate that is set holds for everybody.
//
// So anonymous callers over HTTP have no default rate: the author of a public server should set one. A default
// for all of them together would be low enough for one flood to lock out the others, or so high that the machine is busy before it is
// reached. WithQuotaKey, with the address as the key for instance, gives each its own default; a rate that is set bounds all of them together.
type Rates struct {
	// Calls is for tools/call; default 10,000. Retries with answers count as well.
	Calls int
	// Methods is for the other requests that handlers serve together, completion/complete among them; default 10,000. A subscription
	// counts as one, and as one more for each resource that it names: the handler that subscribes runs for each.
	Methods int
	// Tasks is for requests about tasks together, except those that cancel; default 10,000. A subscription counts as one for each task
	// that it names.
	Tasks int
	// UnknownTasks is for requests about tasks that do not exist or belong to others, and for such tasks in a
	// subscription; default 10. Further ones are refused like any that come too often. Connections without an identity share one allowance as
	// well; a local user has its own. A request about a task of the caller is never refused for this, whatever others ask.
	UnknownTasks int
	// LogMessages is how many one call sends to its client; default 20. Others are dropped, and counted in the server's log.
	LogMessages int
}

// WithRates sets how often one caller may send requests.
func WithRates(r Rates) Option { return func(c *config) { c.rates = r } }

// rated is a kind of requests that has a rate of its own.
type rated uint8

const (
	ratedCalls rated = iota
	ratedMethods
	ratedTasks
	ratedUnknownTasks
)

// what names the kind in errors.
func (k rated) what() string {
	return [...]string{"tool calls", "requests for prompts, resources, completion or subscriptions", "requests about tasks", "requests about unknown tasks"}[k]
}

type rateKey struct {
	kind   rated
	caller string
}

// rates are the limits of one server.
type rates struct {
	set      [4]rate.Limit // by kind: the rates that hold for everybody; zero: none
	defaults [4]rate.Limit // likewise for identified peers
	messages rate.Limit
	since    time.Time // when the clock of messages began
	callers  *rate.Table[rateKey]
	refused  *rate.Digest // by kind and caller
	dropped  *rate.Digest // by tool
}

func newRates(s *Server) *rates {
	own := &s.cfg.rates
	r := &rates{
		set:      [4]rate.Limit{perSecond(own.Calls), perSecond(own.Methods), perSecond(own.Tasks), perSecond(cmp.Or(own.UnknownTasks, 10))},
		messages: perSecond(cmp.Or(own.LogMessages, 20)), since: time.Now(), callers: rate.NewTable[rateKey](),
	}
	for i, n := range [...]int{own.Calls, own.Methods, own.Tasks} {
		r.defaults[i] = perSecond(cmp.Or(n, 10_000))
	}
	r.defaults[ratedUnknownTasks] = r.set[ratedUnknownTasks]
	r.refused = &rate.Digest{Summary: func(kind string, more int) {
		s.log.Warn("limit of rate reached: more refused", "kind", kind, "count", more)
	}}
	r.dropped = &rate.Digest{Summary: func(tool string, more int) {
		s.log.Warn("log messages not sent: too many from one call", "tool", tool, "count", more)
	}}
	return r
}

func perSecond(n int) rate.Limit { return rate.Limit{PerSecond: n, Burst: 10 * n} }

// caller names the caller that a rate of this kind counts for. Where the rate has to hold for strangers, all of them are one caller:
// another session or connection does not make another caller.
func (p *peer) caller(kind rated) string {
	if p.streams || kind == ratedUnknownTasks {
		return cmp.Or(p.taskQuota(), p.owner)
	}
	return cmp.Or(p.who.key, p.owner)
}

// identified reports whether the peer is one of the callers that the defaults are for.
func (p *peer) identified() bool { return p.streams && (p.who.principal != "" || p.who.key != "") }

// of returns the rates that hold for the peer, by kind.
func (rs *rates) of(p *peer) *[4]rate.Limit {
	if p.identified() {
		return &rs.defaults
	}
	return &rs.set
}

// take counts n requests, or returns the error that refuses them.
func (rs *rates) take(p *peer, kind rated, n int) *rpc.Error {
	limit, caller := p.rates[kind], p.caller(kind)
	wait := rs.callers.Take(rateKey{kind, caller}, limit, n)
	if wait == 0 {
		return nil
	}
	if by := kind.what() + " of " + caller; rs.refused.First(by) {
		p.s.log.Warn("limit of rate reached", "kind", by, "peer", p.id)
	}
	if n > limit.Burst {
		return rpc.Errorf(rpc.CodeInvalidRequest, "limit reached: at most %d %s at once", limit.Burst, kind.what())
	}
	return tooOften(wait, "limit reached: at most %d %s a second", limit.PerSecond, kind.what())
}

// tooOften is an error that says when to try again.
func tooOften(wait time.Duration, format string, args ...any) *rpc.Error {
	ms := max(1, (wait+time.Millisecond-1)/time.Millisecond)
	err := rpc.Errorf(rpc.CodeInvalidRequest, "%s; try again in %v", fmt.Sprintf(format, args...), ms*time.Millisecond)
	err.Data, err.Wait = fmt.Appendf(nil, `{"retryAfterMs":%d}`, ms), wait
	return err
}

// full is the error that refuses n more of a limit that all callers share; own is how much of it the caller has.
func full(l *quota.Limit, own *atomic.Int64, n int64, format string, args ...any) *rpc.Error {
	err := tooOften(time.Second, format, args...)
	err.Busy = !l.OwnPartUsed(own, n)
	return err
}

// mayLog counts one log message of the call to its client.
func (c *Call) mayLog() bool {
	rs := c.s.rates
	if c.messages.Take(rs.messages, 1, time.Since(rs.since)) == 0 {
		return true
	}
	c.dropped("too many from one call")
	return false
}

// dropped counts a log message that is not sent.
func (c *Call) dropped(why string) {
	if c.s.rates.dropped.First(c.Tool()) {
		c.Log().Warn("log message not sent: " + why)
	}
}
