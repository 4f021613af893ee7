package streamhttp

import (
	"net/http"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// judge finds out which revision a message is of. What the server can not take is refused.
func (h *Endpoint) judge(r *http.Request, frame []byte) (server.Judged, *refusal) {
	j, err := h.srv.Judge(frame, r.Header.Get(headerVersion))
	if err == nil {
		return j, nil
	}
	refused := &refusal{status: http.StatusBadRequest, err: err}
	if j.Status != 0 {
		refused.status = j.Status
	}
	if j.Kind == rpc.KindRequest {
		refused.id = j.ID
	}
	return j, refused
}

// checkHeaders compares the headers of a stateless message with its body (EXT14): whoever routed it by them must not have
// been told something else.
func (h *Endpoint) checkHeaders(r *http.Request, j *server.Judged) *refusal {
	rules := &j.Wire.HTTP
	switch enc := (sentinel{rules.EncodedPrefix, rules.EncodedSuffix}); {
	case !repeats(r.Header, rules.VersionHeader, j.Wire.Revision, sentinel{}):
		return mismatch(r, j, rules.VersionHeader)
	case tellsMethod(r, rules.MethodHeader, j.Kind) && !repeats(r.Header, rules.MethodHeader, j.Method, sentinel{}):
		return mismatch(r, j, rules.MethodHeader)
	case j.Named && !repeats(r.Header, rules.NameHeader, j.Name, enc):
		return mismatch(r, j, rules.NameHeader)
	case j.Tool != nil:
		params := h.params.of(j.Tool, rules.ParamPrefix)
		for i := range params {
			if !params[i].check(r.Header, j.Arguments, enc) {
				return mismatch(r, j, params[i].header)
			}
		}
	}
	return nil
}

// tellsMethod tells whether the method's header counts: on every request, and on a notification that has it. The revision asks
// for it on requests alone, and clients leave it out of notifications.
func tellsMethod(r *http.Request, header string, kind rpc.Kind) bool {
	return kind != rpc.KindNotification || len(r.Header.Values(header)) > 0
}

// repeats tells whether the header is there once and says what is wanted.
func repeats(h http.Header, name, want string, enc sentinel) bool {
	if name == "" {
		return true
	}
	values := h[http.CanonicalHeaderKey(name)]
	if len(values) != 1 {
		return false
	}
	got, ok := enc.decode(values[0])
	return ok && got == want
}

func mismatch(r *http.Request, j *server.Judged, header string) *refusal {
	wrong := "does not say what the body says"
	switch n := len(r.Header.Values(header)); {
	case n == 0:
		wrong = "is missing"
	case n > 1:
		wrong = "is repeated"
	}
	refused := &refusal{
		status: http.StatusBadRequest, id: j.ID,
		err: rpc.Errorf(j.Wire.Codes.HeaderMismatch, "the header %s %s", header, wrong),
	}
	if status := j.Wire.HTTP.Statuses.HeaderMismatch; status != 0 {
		refused.status = status
	}
	return refused
}
