package streamhttp

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// unserved is the refusal of a message for which Route has returned err.
func unserved(to *server.Routed, err *rpc.Error) *refusal {
	return &refusal{status: cmp.Or(to.Status, http.StatusBadRequest), err: err}
}

// repeatedHeaders are the headers of a stateless revision that repeat what is in the body (EXT14). Their names are as http.Header has them, "" for none.
type repeatedHeaders struct {
	version, method, name string
	enc                   sentinel
	params                paramTable
}

func newRepeatedHeaders(rules *wire.HTTP) *repeatedHeaders {
	return &repeatedHeaders{
		version: http.CanonicalHeaderKey(rules.VersionHeader), method: http.CanonicalHeaderKey(rules.MethodHeader),
		name: http.CanonicalHeaderKey(rules.NameHeader), enc: sentinel{rules.EncodedPrefix, rules.EncodedSuffix},
		params: paramTable{prefix: rules.ParamPrefix},
	}
}

// checkHeaders refuses a stateless message whose headers differ from its body (EXT14): a gateway may have routed it by them.
func (h *Endpoint) checkHeaders(r *http.Request, to *server.Routed) *refusal {
	rules, headers := &to.Revision.HTTP, h.repeated[to.Revision]
	switch {
	case to.Kind == rpc.KindResult || to.Kind == rpc.KindError: // a response has no method that a header could name
		return refuse(http.StatusBadRequest, "revision %s has no responses from clients: answer by sending the request again, with inputResponses", to.Revision.Version)
	case !repeats(r.Header, headers.version, to.Revision.Version, sentinel{}):
		return mismatch(r, to, rules.VersionHeader)
	case checksMethod(r, headers.method, to.Kind) && !repeats(r.Header, headers.method, to.Method, sentinel{}):
		return mismatch(r, to, rules.MethodHeader)
	case to.Named && !repeats(r.Header, headers.name, to.Name, headers.enc):
		return mismatch(r, to, rules.NameHeader)
	case to.Tool != nil:
		params := headers.params.of(to.Tool)
		for i := range params {
			if !params[i].check(r.Header, to.Arguments, headers.enc) {
				if !h.srv.Shows(r.Context(), to.Tool) {
					return nil // the tool is hidden from this caller: the call is answered as that of an unknown one
				}
				return mismatch(r, to, params[i].header)
			}
		}
	}
	return nil
}

// checksMethod reports whether the header for the method is checked: on every request, and on a notification that has the header, which the revision
// requires only on requests.
func checksMethod(r *http.Request, header string, kind rpc.Kind) bool {
	return kind != rpc.KindNotification || len(r.Header[header]) > 0
}

// repeats reports whether the header is there once and has the wanted value.
func repeats(h http.Header, name, want string, enc sentinel) bool {
	if name == "" {
		return true
	}
	values := h[name]
	if len(values) != 1 {
		return false
	}
	got, ok := enc.decode(values[0])
	return ok && got == want
}

func mismatch(r *http.Request, to *server.Routed, header string) *refusal {
	wrong := "does not say what the body says"
	switch values := r.Header.Values(header); {
	case len(values) == 0:
		wrong = "is missing"
	case len(values) > 1:
		wrong = "is repeated"
	default:
		rules := &to.Revision.HTTP
		if _, ok := (sentinel{rules.EncodedPrefix, rules.EncodedSuffix}).decode(values[0]); !ok {
			wrong = fmt.Sprintf("is not valid: its value is printable ASCII, or the base64 of UTF-8 between %s and %s", rules.EncodedPrefix, rules.EncodedSuffix)
		}
	}
	refused := &refusal{
		status: http.StatusBadRequest,
		err:    rpc.Errorf(to.Revision.Codes.HeaderMismatch, "the header %s %s", header, wrong),
	}
	if status := to.Revision.HTTP.Statuses.HeaderMismatch; status != 0 {
		refused.status = status
	}
	return refused
}
