package streamhttp

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/paramheader"
)

// WithCORS lets pages of these origins, such as "https://app.example.com", call the server from a browser; "*" is all of them. It is off by
// default. The origins are allowed as by WithOrigins, preflights are answered, and pages may send and read the headers that the served revisions
// have, Authorization among them. Cookies are never allowed. Middleware that refuses requests without a token goes into WithMiddleware then:
// around the handler it would refuse preflights, which have none.
func WithCORS(origins ...string) Option {
	return func(o *options) {
		o.guard.origins.add(origins)
		o.cors.origins.add(origins)
		o.cors.on = true
	}
}

// WithMiddleware puts middleware around the serving of requests, for example a check of tokens. It runs after the checks of host and
// origin and after preflights, and pages that WithCORS allows can read its refusals. The first one given is the outermost. One that wraps
// the http.ResponseWriter gives it an Unwrap method (http.ResponseController): streams are flushed, and have deadlines. http.TimeoutHandler has none:
// behind it, and others like it, whatever needs a stream gets 500. One that recovers from panics has to pass http.ErrAbortHandler on, which ends a response
// that lacks its answer.
func WithMiddleware(middleware func(http.Handler) http.Handler) Option {
	return func(o *options) { o.middleware = append(o.middleware, middleware) }
}

// cors tells browsers what pages of other origins may do.
type cors struct {
	on       bool
	origins  names
	methods  string   // those that are served
	send     string   // headers that pages may send in requests
	prefixes []string // of more such headers, in lower case
	read     string   // headers that pages may read in responses
}

// preflightAge is how long browsers may remember the answer to a preflight, in seconds: Chrome does for no longer.
const preflightAge = "7200"

// compile collects the methods and headers of the revisions of h.
func (c *cors) compile(h *Endpoint) {
	methods := []string{http.MethodPost}
	send := []string{"Accept", "Authorization", "Content-Type"}
	read := []string{"Retry-After", "Www-Authenticate"}
	if h.hasSessions() {
		methods = append(methods, http.MethodGet, http.MethodDelete)
	}
	for _, w := range h.srv.Definition().Revisions {
		rules := &w.HTTP
		send = append(send, rules.VersionHeader, rules.MethodHeader, rules.NameHeader)
		if rules.ParamPrefix != "" {
			c.prefixes = append(c.prefixes, strings.ToLower(rules.ParamPrefix))
		}
		if h.hasSessions() {
			send = append(send, rules.SessionHeader, rules.LastEventHeader)
			read = append(read, rules.SessionHeader)
		}
	}
	c.methods, c.send, c.read = strings.Join(methods, ", "), headerList(send), headerList(read)
}

// headerList joins names, each once.
func headerList(names []string) string {
	for i := range names {
		names[i] = http.CanonicalHeaderKey(names[i])
	}
	slices.Sort(names)
	return strings.Join(slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" }), ", ")
}

// serve writes the headers that the request's origin gets, and answers a preflight.
func (c *cors) serve(w http.ResponseWriter, r *http.Request) (answered bool) {
	header := w.Header()
	origin := r.Header.Get("Origin")
	if !c.origins.all {
		header.Add("Vary", "Origin") // also when there is none: caches keep one response for all
	}
	if origin == "" || !c.origins.has(origin) {
		return false
	}
	if c.origins.all {
		origin = "*"
	}
	header["Access-Control-Allow-Origin"] = []string{origin}
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		header["Access-Control-Expose-Headers"] = []string{c.read}
		return false
	}
	header["Access-Control-Allow-Methods"] = []string{c.methods}
	header["Access-Control-Allow-Headers"] = []string{c.send + c.parameters(r)}
	header["Access-Control-Max-Age"] = []string{preflightAge}
	header.Add("Vary", "Access-Control-Request-Headers")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// parameters are the requested headers that repeat arguments of tools; see param.go.
func (c *cors) parameters(r *http.Request) string {
	var b strings.Builder
	for _, list := range r.Header["Access-Control-Request-Headers"] {
		for name := range strings.SplitSeq(list, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if slices.ContainsFunc(c.prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) && paramheader.IsToken(name) {
				b.WriteString(", ")
				b.WriteString(name)
			}
		}
	}
	return b.String()
}
