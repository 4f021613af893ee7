package server

import (
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ErrSilent is the error of a connection or session that was ended because its client did not answer a ping (LET11). The cause of its calls
// contains it.
var ErrSilent = errors.New("server: the client did not answer a ping")

// defaultPing is the interval over HTTP.
const defaultPing = time.Minute

// WithPing sets after how much silence a client of a handshake revision is sent a ping; it has as long again to send any message. Then
// its connection or session ends, and what is in flight is cancelled with ErrSilent. The default is a minute for HTTP sessions, and
// never for connections, which end when either side does. 0 or less means never. A session is sent a ping only while its client reads
// a stream: without one it is not dead, its client may resume it (CAN18).
func WithPing(interval time.Duration) Option {
	return func(c *config) {
		c.ping = interval
		if interval <= 0 {
			c.ping = -1
		}
	}
}

// pulse tracks whether a client is alive. It is checked after each interval: after one in silence a ping is sent, after two the peer ends.
type pulse struct {
	timer    atomic.Pointer[time.Timer]
	received atomic.Bool // a message has come since the last check
	asked    atomic.Bool // a ping was sent, and nothing has come since
}

func (u *pulse) stop() {
	if t := u.timer.Load(); t != nil {
		t.Stop()
	}
}

// pingInterval is 0 for a peer that is sent no pings.
func (p *peer) pingInterval() time.Duration {
	switch every := p.s.cfg.ping; {
	case every < 0 || p.sessionless || p.revision.names[wire.OpPing] == "":
		return 0
	case every == 0 && p.streams:
		return defaultPing
	default:
		return every
	}
}

// startPings is called once, when the handshake is done.
func (p *peer) startPings() {
	every := p.pingInterval()
	if every == 0 {
		return
	}
	t := time.AfterFunc(math.MaxInt64, func() { p.checkPulse(every) })
	p.pulse.timer.Store(t)
	t.Reset(every)
}

// checkPulse is called by the timer. Writing may block, so the next check does not wait for this one.
func (p *peer) checkPulse(every time.Duration) {
	if !p.live.add() {
		return
	}
	p.writing.Add(1)
	defer p.endWriter()
	if p.closing.Load() || p.inputEnded() {
		return
	}
	p.pulse.timer.Load().Reset(every)
	switch {
	case p.pulse.received.Swap(false) || !p.listens():
		p.pulse.asked.Store(false)
	case p.pulse.asked.Load():
		p.endSilent()
	default:
		p.pulse.asked.Store(true)
		if !p.ping(every) {
			p.pulse.asked.Store(false)
		}
	}
}

// listens reports whether somebody reads the messages that belong to no request of the client.
func (p *peer) listens() bool {
	if p.attended == nil {
		return true
	}
	read, _ := p.attended.Attended(rpc.ID{})
	return read
}

// ping sends a ping. It returns false if the transport does not take the ping, for example because messages that clients have not read take all the
// space. The answer is a sign of life like any other message; the ping is in the tracker so that its answer is expected.
func (p *peer) ping(wait time.Duration) (sent bool) {
	id, method := rpc.IntID(p.outgoing.Add(1)), p.revision.names[wire.OpPing]
	entry, err := p.s.tracker.Register(p.ctx, p.key(id, inflight.Outgoing), inflight.Info{Kind: inflight.Kind{Method: method, Timeout: wait}, Principal: p.who.principal})
	if err != nil {
		return false
	}
	session := subject{peer: p, ctx: entry}
	if session.write(outgoing{frame: rpc.AppendRequest(nil, id, method, []byte("{}"))}) != nil {
		entry.Retire()
		return false
	}
	return true
}

func (p *peer) endSilent() {
	e, ok := p.out.(Ender)
	if !ok {
		return
	}
	p.pulse.stop()
	p.s.log.Warn("connection ended: its client did not answer a ping", "peer", p.id, "principal", p.who.principal)
	e.End(&inflight.Cause{Source: inflight.SourceDisconnect, Err: ErrSilent})
}
