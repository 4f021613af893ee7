package server

import (
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// reading reads the params of one message. Mostly it does so while the frame is taken apart, as the method of the revision that
// the message most likely belongs to; where judging comes to another end, it reads them again.
type reading struct {
	s      *Server
	at     situation
	frame  []byte
	params *Params
	glance bool // who serves a session's messages is all that matters: their params are read later

	method *Method // as which params were read; nil: they are zero, or nobody's
	err    error   // what was wrong with them
}

// ReadResult implements rpc.Reader. Answers are read by who waits for them.
func (rd *reading) ReadResult(*check.Decoder, rpc.ID) bool { return false }

// ReadParams implements rpc.Reader.
func (rd *reading) ReadParams(d *check.Decoder, method []byte) bool {
	w := rd.likely(method)
	m := w.methods[string(method)]
	if m == nil || m.Read == nil || rd.glance && w.Handshake {
		return false
	}
	*rd.params = Params{}
	rd.method, rd.err = m, check.Within(d, m.Read, rd.params)
	rd.params.unset()
	return true
}

func (rd *reading) likely(method []byte) *wire {
	s := rd.s
	if len(s.stateless) == 0 {
		return rd.at.session
	}
	if w := s.stateless[0]; w.mayNameRevision(rd.frame) {
		return w
	}
	return s.silent(rpc.KindRequest, method, rd.at)
}

// read reads params as those of m with a function of its wire, nil for none, unless that was done on the way.
func (rd *reading) read(m *Method, params []byte, with func(*check.Decoder, *Params)) error {
	if m != nil && rd.method == m {
		return rd.err
	}
	*rd.params = Params{}
	rd.method, rd.err = m, nil
	if with != nil {
		rd.err = check.DecodeScanned(orEmpty(params), rd.s.cfg.limits, with, rd.params)
		rd.params.unset()
	}
	return rd.err
}

// unset makes absent what some clients write as null.
func (p *Params) unset() {
	if string(p.Arguments) == "null" {
		p.Arguments = nil
	}
	if string(p.Task) == "null" {
		p.Task = nil
	}
}

// orEmpty stands in for absent params, which are an empty object.
func orEmpty(params []byte) []byte {
	if params == nil {
		return []byte("{}")
	}
	return params
}

// readSession reads the params of a method of a handshake revision.
func (rd *reading) readSession(m *Method, params []byte) *rpc.Error {
	if err := rd.read(m, params, m.Read); err != nil {
		return invalidParams(m.Name, err)
	}
	return nil
}

// readStateless reads the params of a message of that revision, of an unknown method as those of any request.
func (rd *reading) readStateless(w *wire, msg *rpc.Message) verdict {
	v := verdict{wire: w, method: w.methods[string(msg.Method)]}
	with := w.ReadRequest
	if v.method != nil && v.method.Read != nil {
		with = v.method.Read
	}
	v.err = rd.read(v.method, msg.Params, with)
	return v
}
