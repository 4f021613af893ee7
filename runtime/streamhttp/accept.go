package streamhttp

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// checkContent requires JSON in UTF-8, also because a web page may send forms and plain text across origins without a preflight.
func checkContent(r *http.Request) *refusal {
	for _, coding := range r.Header["Content-Encoding"] {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return refuse(http.StatusUnsupportedMediaType, "the content encoding %s is not decoded here: send the body as it is", rpc.Quoted(coding))
		}
	}
	values := r.Header["Content-Type"]
	if len(values) == 1 && (values[0] == typeJSON || isJSON(values[0])) {
		return nil
	}
	return refuse(http.StatusUnsupportedMediaType, "the content type must be %s", typeJSON)
}

func isJSON(value string) bool {
	media, params, err := mime.ParseMediaType(value)
	if err != nil || media != typeJSON {
		return false
	}
	for name, v := range params {
		if name != "charset" || !strings.EqualFold(v, "utf-8") {
			return false
		}
	}
	return true
}

// checkAccept requires the client to accept all of types: which of them the response will have is not known yet. In HTTP, a request without
// the header accepts everything.
func checkAccept(r *http.Request, types ...string) *refusal {
	values := r.Header["Accept"]
	if len(values) == 0 || len(values) == 1 && (values[0] == "application/json, text/event-stream" || values[0] == "*/*") {
		return nil
	}
	for _, t := range types {
		if !accepts(values, t) {
			return refuse(http.StatusNotAcceptable, "the client must accept %s", strings.Join(types, " and "))
		}
	}
	return nil
}

// accepts reports whether the most specific media range of the header Accept that matches the media type accepts it.
func accepts(values []string, media string) bool {
	family, _, _ := strings.Cut(media, "/")
	best, accepted := 0, false
	for _, value := range values {
		for _, item := range strings.Split(value, ",") {
			name, params, _ := strings.Cut(item, ";")
			if rank := rangeRank(strings.TrimSpace(name), media, family); rank > best {
				best, accepted = rank, !refusedByWeight(params)
			}
		}
	}
	return accepted
}

// rangeRank returns how specific the media range name is, 0 if it does not match.
func rangeRank(name, media, family string) int {
	switch {
	case strings.EqualFold(name, media):
		return 3
	case strings.EqualFold(name, family+"/*"):
		return 2
	case name == "*/*":
		return 1
	}
	return 0
}

// refusedByWeight reports whether the parameters of a media range have the weight q=0.
func refusedByWeight(params string) bool {
	for _, p := range strings.Split(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q == 0
		}
	}
	return false
}
