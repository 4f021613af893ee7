package client

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// negotiate finds the revision to use. First it sends server/discover, which a server of a revision without a handshake answers. If an error
// comes back that those revisions do not have, or nothing, the handshake follows; a server that starts slowly may still answer server/discover.
// negotiate returns the session, which is not s if the server had to be started again.
func (s *Session) negotiate(ctx context.Context, t Transport) (*Session, error) {
	stateless, handshaking := s.candidates()
	if len(stateless)+len(handshaking) == 0 {
		return s, &VersionError{Client: s.cfg.versions(), Asked: s.cfg.revision}
	}
	if err := s.open(ctx, t, slices.Concat(stateless, handshaking)[0]); err != nil {
		return s, err
	}
	var late *asking
	if len(stateless) > 0 {
		pending, legacy, err := s.discover(ctx, stateless, handshaking)
		if err == nil {
			return s, nil
		}
		if !legacy || len(handshaking) == 0 {
			return s, err
		}
		late = pending
		s.cfg.logger.Debug("no answer of a revision without a handshake", "error", err)
		if s.usable() != nil { // there are servers that end when they do not know a request
			if !t.reopens() {
				return s, err
			}
			s, late = s.successor(ctx), nil // what the old process answers says nothing about the new one
			if err := s.open(ctx, t, handshaking[0]); err != nil {
				return s, err
			}
		}
	}
	return s, s.initialize(ctx, late, stateless, handshaking)
}

// candidates returns the revisions that may be used, newest first.
func (s *Session) candidates() (stateless, handshaking []*wire.Dialect) {
	for _, d := range s.cfg.dialects {
		switch {
		case s.cfg.revision != "" && d.Version != s.cfg.revision:
		case d.Handshake:
			handshaking = append(handshaking, d)
		default:
			stateless = append(stateless, d)
		}
	}
	return stateless, handshaking
}

func (s *Session) open(ctx context.Context, t Transport, d *wire.Dialect) error {
	s.use(d)
	l, err := t.open(ctx, s)
	if err != nil {
		return err
	}
	s.link = l
	return nil
}

// successor returns a new session to be used instead of s, whose server has ended. Handlers of s may still run: the end of the new session waits for them.
func (s *Session) successor(ctx context.Context) *Session {
	s.disconnect(ctx)
	next := newSession(s.cfg, s.endpoint)
	next.noise, next.inherited = s.noise, true // nothing is received any more
	next.spawn(s.awaitHandlers)
	return next
}

// use makes d the revision of all messages from now on.
func (s *Session) use(d *wire.Dialect) {
	s.dialect.Store(d)
	var v wire.Values
	v.SetText(wire.SlotProtocolVersion, d.Version)
	v[wire.SlotClientInfo] = s.cfg.info
	declared := s.declare(d)
	v[wire.SlotClientCapabilities], v[wire.SlotCapabilities] = declared, declared
	if s.cfg.logLevel != "" {
		v.SetText(wire.SlotLogLevel, s.cfg.logLevel)
	}
	s.base, s.baseSlots = v, nil
	for slot := range v {
		if v[slot] != nil {
			s.baseSlots = append(s.baseSlots, wire.Slot(slot))
		}
	}
}

// discover asks a server for its versions and capabilities without a handshake. legacy: the error may come from a server that does not know that request.
// late is the request if it was not answered yet, nil if it is over.
func (s *Session) discover(ctx context.Context, stateless, handshaking []*wire.Dialect) (late *asking, legacy bool, err error) {
	d := stateless[0]
	var a *asking
	for try := 0; ; try++ {
		a = s.ask(ctx, d, wire.OpDiscover)
		if len(handshaking) > 0 && s.cfg.probe > 0 && s.link.shared() && !a.within(s.cfg.probe) {
			return a, true, errSilent
		}
		<-a.done
		if a.err == nil {
			break
		}
		supported, refusedVersion := s.supported(d, a.err)
		if !refusedVersion {
			return nil, s.isLegacy(ctx, d, a.err), a.err
		}
		next := common(stateless, supported)
		if next == nil || try > 0 {
			return nil, common(handshaking, supported) != nil, &VersionError{Client: versions(stateless, handshaking), Server: supported}
		}
		d = next
		s.use(d)
	}
	offered := a.values.Texts(wire.SlotSupportedVersions)
	switch {
	case s.take(a, stateless):
		return nil, false, nil
	case len(offered) == 0: // there are servers that answer everything
		return nil, true, broken(d.Call(wire.OpDiscover).Name, "it names no versions")
	}
	return nil, common(handshaking, offered) != nil, &VersionError{Client: versions(stateless, handshaking), Server: offered}
}

// errSilent says that server/discover was not answered in time. A server that wants the handshake may never answer it.
var errSilent = errors.New("client: server/discover was not answered yet")

// take begins the session with what the server has answered to server/discover; false: there is no answer, or no revision in common.
func (s *Session) take(a *asking, stateless []*wire.Dialect) bool {
	if a.err != nil {
		return false
	}
	offered := a.values.Texts(wire.SlotSupportedVersions)
	picked := common(stateless, offered)
	if picked == nil {
		return false
	}
	s.use(picked)
	s.declared(picked, a.values)
	s.server.versions = offered
	return true
}

// asking is server/discover or initialize while it is under way.
type asking struct {
	done   chan struct{} // closed when it is over
	stop   context.CancelFunc
	values *wire.Values // of its result; values and err are final when done is closed
	err    error
}

// ask sends server/discover or initialize. The server never gets a cancellation of either: it may not know what that means, or must not get it (CAN07).
func (s *Session) ask(ctx context.Context, d *wire.Dialect, op wire.Op) *asking {
	c := &call{s: s, dialect: d, op: d.Call(op), callConfig: callConfig{timeout: s.cfg.timeout, maxTime: s.cfg.maxTime}, cancelsSilently: true}
	a := &asking{done: make(chan struct{})}
	ctx, a.stop = context.WithCancel(ctx)
	v := c.values() // not in the goroutine: the next request may change them
	go func() {
		defer close(a.done)
		defer a.stop()
		a.values, a.err = c.plain(ctx, v)
	}()
	return a
}

// within waits until the request is over, or for d; false: it is not over.
func (a *asking) within(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-a.done:
		return true
	case <-timer.C:
		return false
	}
}

// end gives the request up if it is not over, and waits until it is.
func (a *asking) end() {
	a.stop()
	<-a.done
}

// plain makes a call without params of its own, and reads its result. A server whose HTTP status says that it is busy has not refused the request. Whoever
// connects has not named the request, so the error does when the caller's context ends.
func (c *call) plain(ctx context.Context, v *wire.Values) (*wire.Values, error) {
	result, err := c.do(ctx, v, nil)
	var answer *Error
	if cause := (*Cause)(nil); errors.As(err, &cause) && err == error(cause) && cause.Source == inflight.SourceParent {
		err = waitedFor(cause, "the server has not answered "+c.op.Name)
	}
	switch {
	case errors.As(err, &answer) && c.round.busy != nil && answer.Code != rpc.CodeMethodNotFound:
		return nil, c.round.busy
	case err != nil:
		return nil, err
	}
	if _, err := c.kind(result); err != nil {
		return nil, err
	}
	return c.read(c.op.Result, result)
}

// supported returns the versions that a server supports, from its error about the version of a request; ok is false for another error.
func (s *Session) supported(d *wire.Dialect, err error) (versions []string, ok bool) {
	var answer *Error
	if !errors.As(err, &answer) || answer.Code != d.Codes.UnsupportedVersion {
		return nil, false
	}
	var v wire.Values
	if d.UnsupportedVersion.Read(answer.Data, &v) != nil {
		return nil, true
	}
	return v.Texts(wire.SlotSupported), true
}

// versionRefused returns the error with which a session ends in whose middle the server refuses the revision that it has agreed to; nil if err says
// something else. Whoever connects again finds a revision that both sides speak now, as far as there is one.
func (c *call) versionRefused(err *Error) error {
	if c.dialect.Handshake || c.op.Op == wire.OpDiscover {
		return nil
	}
	supported, refused := c.s.supported(c.dialect, err)
	if !refused {
		return nil
	}
	stateless, handshaking := c.s.candidates()
	return &VersionError{Client: versions(stateless, handshaking), Server: supported, Used: c.dialect.Version}
}

// isLegacy reports whether an error may be that of a server that wants the handshake.
func (s *Session) isLegacy(ctx context.Context, d *wire.Dialect, err error) bool {
	var answer *Error
	var cause *Cause
	var status *StatusError
	var lost *TransportError
	end, bounded := ctx.Deadline()
	switch {
	case ctx.Err() != nil, bounded && !time.Now().Before(end): // the request's timer may be ahead of that of ctx
		return false
	case errors.As(err, &answer):
		return answer.Code != d.Codes.MissingCapability && answer.Code != d.Codes.HeaderMismatch
	case errors.As(err, &status):
		return status.legacy()
	case errors.As(err, &lost):
		return s.usable() != nil
	case errors.As(err, &cause):
		return cause.Source == inflight.SourceTimeout
	}
	return false
}

func common(ours []*wire.Dialect, theirs []string) *wire.Dialect {
	for _, d := range ours {
		if slices.Contains(theirs, d.Version) {
			return d
		}
	}
	return nil
}

func versions(lists ...[]*wire.Dialect) (all []string) {
	for _, list := range lists {
		for _, d := range list {
			all = append(all, d.Version)
		}
	}
	return all
}

// initialize makes the handshake. late is a server/discover that may still be answered, nil for none: a server that starts slowly gets both requests, and
// its first useful answer decides.
func (s *Session) initialize(ctx context.Context, late *asking, stateless, handshaking []*wire.Dialect) error {
	d := handshaking[0]
	s.use(d)
	a := s.ask(ctx, d, wire.OpInitialize)
	defer a.end()
	var discovered chan struct{}
	if late != nil {
		defer late.end()
		discovered = late.done
	}
	select {
	case <-a.done:
	case <-discovered:
		if s.take(late, stateless) {
			return nil
		}
		<-a.done
	}
	if a.err != nil {
		return s.handshakeFailed(ctx, a.err, late, stateless)
	}
	version := a.values.Text(wire.SlotProtocolVersion)
	if version == "" {
		return broken(d.Call(wire.OpInitialize).Name, "it names no version")
	}
	picked := common(handshaking, []string{version})
	if picked == nil {
		return &VersionError{Client: versions(handshaking), Server: []string{version}}
	}
	s.use(picked)
	s.declared(picked, a.values)
	if err := s.notify(ctx, picked.Call(wire.OpInitialized), nil); err != nil {
		return err
	}
	s.link.listenUnasked()
	return s.askForLogs(ctx, picked)
}

// handshakeFailed begins the session although the handshake has failed with err, if the server names a revision without one, or still answers late.
func (s *Session) handshakeFailed(ctx context.Context, err error, late *asking, stateless []*wire.Dialect) error {
	var answer *Error
	if errors.As(err, &answer) && len(stateless) > 0 {
		var v wire.Values // of the error's data, whatever its code: older revisions have another code
		_ = stateless[0].UnsupportedVersion.Read(answer.Data, &v)
		if d := common(stateless, v.Texts(wire.SlotSupported)); d != nil {
			s.use(d)
			_, _, err = s.discover(ctx, []*wire.Dialect{d}, nil)
			return err
		}
	}
	if late == nil {
		return err
	}
	if answer != nil && answer.Code == rpc.CodeMethodNotFound {
		<-late.done
	} else {
		late.within(s.cfg.probe) // it may be a server of an older revision, which never answers server/discover
	}
	late.end()
	if s.take(late, stateless) {
		return nil
	}
	return &RemedyError{err, NameRevision}
}

// askForLogs sets the level of log records in a revision that has a request for it.
func (s *Session) askForLogs(ctx context.Context, d *wire.Dialect) error {
	op := d.Call(wire.OpSetLevel)
	if s.cfg.logLevel == "" || op == nil || !s.server.offer(op.Needs) {
		return nil
	}
	return s.SetLevel(ctx, s.cfg.logLevel)
}
