package client

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// negotiate finds the revision to use. First it asks as a revision without a handshake. A server of such a revision answers. If an error
// comes back that those revisions do not have, or nothing, the handshake follows. It returns the session, which is not s if the server had to be
// started again.
func (s *Session) negotiate(ctx context.Context, t Transport) (*Session, error) {
	stateless, handshaking := s.candidates()
	if len(stateless)+len(handshaking) == 0 {
		return s, &VersionError{Client: s.cfg.versions(), Asked: s.cfg.revision}
	}
	if err := s.open(ctx, t, slices.Concat(stateless, handshaking)[0]); err != nil {
		return s, err
	}
	if len(stateless) > 0 {
		legacy, err := s.discover(ctx, stateless, handshaking)
		if err == nil {
			return s, nil
		}
		if !legacy || len(handshaking) == 0 {
			return s, err
		}
		s.cfg.logger.Debug("no answer of a revision without a handshake", "error", err)
		if s.usable() != nil { // there are servers that end when they do not know a request
			if !t.reopens() {
				return s, err
			}
			s = s.another(ctx)
			if err := s.open(ctx, t, handshaking[0]); err != nil {
				return s, err
			}
		}
	}
	return s, s.initialize(ctx, handshaking)
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

// another returns a session with the same server instead of s, whose server has ended. What that has said may still be with handlers, which know
// s: only the end of the other waits for them.
func (s *Session) another(ctx context.Context) *Session {
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

// discover asks a server without a handshake for its versions and capabilities. legacy: the error may come from a server that does not know that request.
func (s *Session) discover(ctx context.Context, stateless, handshaking []*wire.Dialect) (legacy bool, err error) {
	d := stateless[0]
	var v *wire.Values
	for try := 0; ; try++ {
		v, err = s.ask(ctx, d, len(handshaking) > 0)
		if err == nil {
			break
		}
		supported, refusedVersion := s.supported(d, err)
		if !refusedVersion {
			return s.isLegacy(ctx, d, err), err
		}
		next := common(stateless, supported)
		if next == nil || try > 0 {
			return common(handshaking, supported) != nil, &VersionError{Client: versions(stateless, handshaking), Server: supported}
		}
		d = next
		s.use(d)
	}
	offered := v.Texts(wire.SlotSupportedVersions)
	picked := common(stateless, offered)
	if len(offered) == 0 { // there are servers that answer everything
		return true, broken(d.Call(wire.OpDiscover).Name, "it names no versions")
	}
	if picked == nil {
		return common(handshaking, offered) != nil, &VersionError{Client: versions(stateless, handshaking), Server: offered}
	}
	if picked != d {
		s.use(picked)
	}
	s.server = newDeclaration(picked, v)
	s.server.versions = offered
	return false, nil
}

// ask sends one discovery. Where the handshake is the alternative and all messages share a stream, the server has only a moment. It never gets a
// cancellation: it may not know what that means.
func (s *Session) ask(ctx context.Context, d *wire.Dialect, probing bool) (*wire.Values, error) {
	c := &call{s: s, dialect: d, op: d.Call(wire.OpDiscover), callConfig: callConfig{timeout: s.cfg.timeout}, cancelsSilently: true}
	if probing && s.cfg.probe > 0 && s.link.shared() {
		c.timeout = s.cfg.probe
	}
	return c.plain(ctx)
}

// plain makes a call without params of its own, and reads its result.
func (c *call) plain(ctx context.Context) (*wire.Values, error) {
	result, err := c.do(ctx, c.values(), nil)
	if err != nil {
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

// isLegacy reports whether an error may be that of a server that wants the handshake.
func (s *Session) isLegacy(ctx context.Context, d *wire.Dialect, err error) bool {
	var answer *Error
	var cause *Cause
	var status *StatusError
	var lost *TransportError
	switch {
	case ctx.Err() != nil:
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

// initialize makes the handshake.
func (s *Session) initialize(ctx context.Context, handshaking []*wire.Dialect) error {
	d := handshaking[0]
	s.use(d)
	v, err := s.requestSession(ctx, d)
	if err != nil {
		return err
	}
	version := v.Text(wire.SlotProtocolVersion)
	if version == "" {
		return broken(d.Call(wire.OpInitialize).Name, "it names no version")
	}
	picked := common(handshaking, []string{version})
	if picked == nil {
		return &VersionError{Client: versions(handshaking), Server: []string{version}}
	}
	s.use(picked)
	s.server = newDeclaration(picked, v)
	if err := s.notify(ctx, picked.Call(wire.OpInitialized), nil); err != nil {
		return err
	}
	s.link.listenUnasked()
	return s.askForLogs(ctx, picked)
}

// requestSession sends the handshake's request, and returns the server's declaration.
func (s *Session) requestSession(ctx context.Context, d *wire.Dialect) (*wire.Values, error) {
	c := &call{s: s, dialect: d, op: d.Call(wire.OpInitialize), callConfig: callConfig{timeout: s.cfg.timeout, maxTime: s.cfg.maxTime}}
	return c.plain(ctx)
}

// askForLogs sets the level of log records in a revision that has a request for it.
func (s *Session) askForLogs(ctx context.Context, d *wire.Dialect) error {
	op := d.Call(wire.OpSetLevel)
	if s.cfg.logLevel == "" || op == nil || !s.server.offer(op.Needs) {
		return nil
	}
	return s.SetLevel(ctx, s.cfg.logLevel)
}

// newDeclaration returns what the server declared.
func newDeclaration(d *wire.Dialect, v *wire.Values) declaration {
	said := declaration{info: v[wire.SlotServerInfo], capabilities: v[wire.SlotCapabilities], instructions: v.Text(wire.SlotInstructions)}
	_ = json.Unmarshal(said.capabilities, &said.offers)
	for op := range said.has {
		call := d.Call(wire.Op(op))
		said.has[op] = call != nil && said.offer(call.Needs)
	}
	said.tasks = d.Task.ServerDecides && said.offer(d.Offers.Tasks)
	said.taskCalls = d.Task.ClientDecides && d.Offers.TaskCall != "" && said.offer(d.Offers.TaskCall)
	return said
}

// offer reports whether the declaration has the capability at path. The empty path needs no capability.
func (s *declaration) offer(path string) bool {
	if path == "" {
		return true
	}
	at := s.offers
	var value any = s.offers
	for name := range wire.Steps(path) {
		value = at[name]
		at, _ = value.(map[string]any)
	}
	return value != nil && value != false
}

// declare returns this client's capabilities, as the revision writes them.
func (s *Session) declare(d *wire.Dialect) json.RawMessage {
	all, h, at := map[string]any{}, &s.cfg.handlers, &d.Declares
	add := func(on bool, path string, value any) {
		if on && path != "" {
			setAt(all, path, value)
		}
	}
	form, url := h.Elicit != nil, h.OpenURL != nil && at.ElicitationURL != ""
	add(form || url, at.Elicitation, nil)
	add(form && at.ElicitationForm != "", at.ElicitationForm, nil)
	add(url, at.ElicitationURL, nil)
	add(h.Sample != nil, at.Sampling, nil)
	add(h.Sample != nil && h.SampleTools, at.SamplingTools, nil)
	add(h.Sample != nil && h.SampleContext, at.SamplingContext, nil)
	add(d.Task.ServerDecides, at.Tasks, nil)
	asTask := (form || url) && at.TaskElicit != "" || h.Sample != nil && at.TaskCreateMessage != ""
	add(asTask, at.Tasks, nil)
	add(asTask, at.TaskCancel, nil)
	add(asTask, at.TaskList, nil)
	add(form || url, at.TaskElicit, nil)
	add(h.Sample != nil, at.TaskCreateMessage, nil)
	add(h.Roots != nil, at.Roots, nil)
	add(h.Roots != nil, at.RootsListChanged, true)
	text, _ := json.Marshal(all)
	return text
}

// setAt sets the value at a path; for nil, to an object, unless there is a value.
func setAt(all map[string]any, path string, value any) {
	var names []string
	for name := range wire.Steps(path) {
		names = append(names, name)
	}
	last := len(names) - 1
	for _, name := range names[:last] {
		inner, ok := all[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			all[name] = inner
		}
		all = inner
	}
	switch {
	case value != nil:
		all[names[last]] = value
	case all[names[last]] == nil:
		all[names[last]] = map[string]any{}
	}
}
