package client

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/paramheader"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// headerError returns an error for a header of a host that HTTP does not allow. It does not show the value, which may be secret.
func headerError(h http.Header) error {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if name == "" || strings.ContainsFunc(name, notInName) {
			return fmt.Errorf("%q can not be the name of an HTTP header: write one of letters, digits and hyphens into Endpoint.Header", name)
		}
		for _, value := range h[name] {
			if strings.ContainsFunc(value, notInValue) {
				return fmt.Errorf("the value of the header %s in Endpoint.Header has a line break or another control character: remove it", name)
			}
		}
	}
	return nil
}

func notInName(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func notInValue(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// describe adds the headers that repeat values of a request, so that a gateway can route it without reading the body (EXT14).
func describe(h http.Header, d *wire.Dialect, r *round) {
	if d.HTTP.MethodHeader != "" {
		h.Set(d.HTTP.MethodHeader, r.call.op.Name)
	}
	if name := r.values.Text(r.call.op.Header); d.HTTP.NameHeader != "" && r.call.op.Header != wire.SlotNone {
		h.Set(d.HTTP.NameHeader, encodeHeader(&d.HTTP, name))
	}
	for i := range r.call.params {
		p := &r.call.params[i]
		if value, ok := headerValue(p, r.values[wire.SlotArguments]); ok {
			h.Set(d.HTTP.ParamPrefix+p.Header, encodeHeader(&d.HTTP, value))
		}
	}
}

// encodeHeader returns a value for a header. It is encoded if it is not printable ASCII, begins or ends with a space, or looks as if it
// were encoded.
func encodeHeader(rules *wire.HTTP, value string) string {
	plain := strings.TrimSpace(value) == value && !strings.HasPrefix(value, rules.EncodedPrefix)
	for i := range len(value) {
		plain = plain && value[i] >= ' ' && value[i] <= '~'
	}
	if plain || rules.EncodedPrefix == "" {
		return value
	}
	return rules.EncodedPrefix + base64.StdEncoding.EncodeToString([]byte(value)) + rules.EncodedSuffix
}

// headerValue returns the argument that a header repeats, as text; false: it is absent, null, or no scalar.
func headerValue(p *paramheader.Param, arguments []byte) (string, bool) {
	for _, name := range p.Path {
		if len(arguments) == 0 || arguments[0] != '{' {
			return "", false
		}
		arguments = memberOf(arguments, name)
	}
	var text string
	switch {
	case len(arguments) == 0 || string(arguments) == "null" || arguments[0] == '{' || arguments[0] == '[':
		return "", false
	case json.Unmarshal(arguments, &text) == nil:
		return text, true
	}
	return decimal(string(arguments)), true
}

// maxSafe is the largest integer that a header repeats in digits, whatever way its argument is written: x-mcp-header is for integers up to that.
const maxSafe = 1<<53 - 1

// decimal returns a JSON number that is an integer as its digits: 5.0 and 0.5e1 are 5 (EXT14). Any other value is returned as it is.
func decimal(value string) string {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || math.Abs(f) > maxSafe {
		return value
	}
	if digits := strconv.FormatInt(int64(f), 10); check.SameNumber(digits, value) {
		return digits
	}
	return value
}
