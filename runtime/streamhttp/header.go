package streamhttp

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"
)

// Headers of the transport itself, as Go writes them. The names of those that repeat the body come from the revision.
const (
	headerSession   = "Mcp-Session-Id"
	headerLastEvent = "Last-Event-Id"
	headerVersion   = "Mcp-Protocol-Version"
)

// valueOf is r.Header.Get for a name that is written as http.Header has it: it need not be brought into that form.
func valueOf(r *http.Request, name string) string {
	if values := r.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// sentinel is what surrounds the base64 of a value that a header can not hold as it is.
type sentinel struct{ prefix, suffix string }

// decode returns the value of a header. Only a value between exactly prefix and suffix is base64; any other is meant literally, and
// then has to be printable ASCII or tabs, because everything else may be changed on its way.
func (s sentinel) decode(value string) (string, bool) {
	inner, wrapped := strings.CutPrefix(value, s.prefix)
	if wrapped && s.prefix != "" {
		if inner, wrapped = strings.CutSuffix(inner, s.suffix); wrapped {
			data, err := base64.StdEncoding.Strict().DecodeString(inner)
			// The decoder itself ignores line ends.
			return string(data), err == nil && utf8.Valid(data) && !strings.ContainsAny(inner, "\r\n")
		}
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c > '~' {
			return "", false
		}
	}
	return value, true
}
