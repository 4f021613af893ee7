package streamhttp

import (
	"net/http"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// route finds the revision of a message, or refuses what the server can not take.
func (h *Endpoint) route(r *http.Request, frame []byte) (server.Routed, *refusal) {
	to, err := h.srv.Route(frame, r.Header.Get(headerVersion))
	if err == nil {
		return to, nil
	}
	refused := &refusal{status: http.StatusBadRequest, err: err}
	if to.Status != 0 {
		refused.status = to.Status
	}
	if to.Kind == rpc.KindRequest {
		refused.id = to.ID
	}
	return to, refused
}

// checkHeaders refuses a stateless message whose headers differ from its body (EXT14): a gateway may have routed it by them.
func (h *Endpoint) checkHeaders(r *http.Request, to *server.Routed) *refusal {
	rules := &to.Wire.HTTP
	switch enc := (sentinel{rules.EncodedPrefix, rules.EncodedSuffix}); {
	case !repeats(r.Header, rules.VersionHeader, to.Wire.Revision, sentinel{}):
		return mismatch(r, to, rules.VersionHeader)
	case tellsMethod(r, rules.MethodHeader, to.Kind) && !repeats(r.Header, rules.MethodHeader, to.Method, sentinel{}):
		return mismatch(r, to, rules.MethodHeader)
	case to.Named && !repeats(r.Header, rules.NameHeader, to.Name, enc):
		return mismatch(r, to, rules.NameHeader)
	case to.Tool != nil:
		params := h.params.of(to.Tool, rules.ParamPrefix)
		for i := range params {
			if !params[i].check(r.Header, to.Arguments, enc) {
				return mismatch(r, to, params[i].header)
			}
		}
	}
	return nil
}

// tellsMethod tells whether the method's header is checked: on every request, and on a notification that has it. The revision requires it
// on requests alone.
func tellsMethod(r *http.Request, header string, kind rpc.Kind) bool {
	return kind != rpc.KindNotification || len(r.Header.Values(header)) > 0
}

// repeats tells whether the header is there once and has the wanted value.
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

func mismatch(r *http.Request, to *server.Routed, header string) *refusal {
	wrong := "does not say what the body says"
	switch n := len(r.Header.Values(header)); {
	case n == 0:
		wrong = "is missing"
	case n > 1:
		wrong = "is repeated"
	}
	refused := &refusal{
		status: http.StatusBadRequest, id: to.ID,
		err: rpc.Errorf(to.Wire.Codes.HeaderMismatch, "the header %s %s", header, wrong),
	}
	if status := to.Wire.HTTP.Statuses.HeaderMismatch; status != 0 {
		refused.status = status
	}
	return refused
}
