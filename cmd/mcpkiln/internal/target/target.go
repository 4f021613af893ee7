// Package target finds the server that a command line names: an address, a command, or an entry of an mcp.json. It is for the
// commands that call tools.
package target

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// TokenVariable is the environment variable whose value is sent as a bearer token.
const TokenVariable = "MCPKILN_TOKEN"

// Spec is how a command line names a server.
type Spec struct {
	Name    string   // an address or the name of an entry; "" for a command
	Command []string // and its arguments
	Config  string   // the file with entries; "" for Files
	Headers []string // "Name: value", only for HTTP
	Dir     string   // folder of Config and Files, unless their paths are absolute
	Env     func(string) (string, bool)
}

// Transport returns the transport to the server. It neither connects nor starts a process: all errors are about the command line or the entry.
func (s *Spec) Transport() (client.Transport, error) {
	switch {
	case len(s.Command) > 0 && s.Name != "":
		return nil, errors.New("both a server and a command are named: write one of them")
	case len(s.Command) > 0:
		return s.process(&client.Process{Path: s.Command[0], Args: s.Command[1:]})
	case strings.Contains(s.Name, "://"):
		return s.endpoint(s.Name, nil)
	case s.Name == "":
		return nil, errors.New("no server is named: write its address, the name of an entry in an mcp.json, or -- and a command")
	}
	e, err := s.entry()
	switch {
	case err != nil:
		return nil, err
	case e.Command != "":
		return s.process(e.process())
	}
	return s.endpoint(e.URL, e.Headers)
}

// ServerName returns what the user calls the server: the name of the entry, the host of the address, or the program.
func (s *Spec) ServerName() string {
	if len(s.Command) > 0 {
		return filepath.Base(s.Command[0])
	}
	if u, err := url.Parse(s.Name); err == nil && u.Host != "" {
		return u.Host
	}
	return s.Name
}

// process returns p; --header is an error, since a process gets its secrets in the environment.
func (s *Spec) process(p *client.Process) (client.Transport, error) {
	if len(s.Headers) > 0 {
		return nil, errors.New("--header is for servers on HTTP: give a command its secrets in the environment")
	}
	return p, nil
}

// WithoutQuery returns an address without its query and its fragment, which may hold secrets.
func WithoutQuery(address string) string {
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		return address[:end]
	}
	return address
}

// endpoint returns the transport over HTTP. A header of the command line replaces one of the entry, and both replace the token of the
// environment.
func (s *Spec) endpoint(address string, entry map[string]string) (client.Transport, error) {
	u, err := url.Parse(address)
	shown := WithoutQuery(address)
	switch {
	case err != nil && !strings.Contains(address, "@"): // else it may be a password in which the rest begins
		return nil, fmt.Errorf("%q is no address: %w", shown, errors.Unwrap(err))
	case err == nil && u.User == nil && (u.Scheme != "http" && u.Scheme != "https" || u.Host == ""):
		return nil, fmt.Errorf("%q is no address of a server: it begins with https:// or http:// and a host", shown)
	case err != nil || u.User != nil:
		return nil, errors.New("an address with a user and a password is not taken: use --header, or " + TokenVariable + " in the environment")
	}
	e := &client.Endpoint{URL: address, Header: http.Header{}}
	if token, ok := s.Env(TokenVariable); ok && token != "" {
		const scheme = "Bearer "
		if len(token) > len(scheme) && strings.EqualFold(token[:len(scheme)], scheme) { // it was copied with its scheme
			token = token[len(scheme):]
		}
		e.Header.Set("Authorization", scheme+token)
	}
	for name, value := range entry {
		e.Header.Set(name, value)
	}
	given := http.Header{}
	for _, h := range s.Headers {
		name, value, ok := strings.Cut(h, ":")
		if name = textproto.TrimString(name); !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("--header %q: write 'Name: value'", h)
		}
		if isProtocols(name) {
			return nil, fmt.Errorf("--header %s: the value comes from the address, the session or the request, and no other is sent: leave it out", name)
		}
		given.Add(name, textproto.TrimString(value))
	}
	for name, values := range given {
		e.Header[name] = values
	}
	return e, sendable(e.Header)
}

// isProtocols reports whether a header is one that HTTP or the protocol sets in each request. An entry may have one, which hosts write there, too; its value
// is not sent.
func isProtocols(name string) bool {
	switch name = strings.ToLower(name); name {
	case "accept", "content-type", "content-length", "host", "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "transfer-encoding":
		return true
	}
	return strings.HasPrefix(name, "mcp-param-")
}

// token matches the name of a header.
var token = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// sendable returns an error for a header that HTTP can not carry. It does not show the value, which may be a secret.
func sendable(all http.Header) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !token().MatchString(name) {
			return fmt.Errorf("%q is no name of a header: it has letters, digits and dashes", name)
		}
		for _, value := range all[name] {
			if strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
				return fmt.Errorf("the header %s has a line break or another control character: leave it out, in --header, in %s or in the entry", name, TokenVariable)
			}
		}
	}
	return nil
}

// meant returns a hint for a server that is named by the path of its program or without http://; "" if the name looks like neither.
func (s *Spec) meant() string {
	switch program := s.Program(s.Name); {
	case program != "":
		return "it " + program
	case address().MatchString(s.Name):
		return "did you mean http://" + s.Name + " or https://" + s.Name + "?"
	}
	return ""
}

// Program says of the path of a program, as a predicate, how it is named as a server; "" for any other word.
func (s *Spec) Program(word string) string {
	path := word
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 && runtime.GOOS != "windows" {
		return ""
	}
	if filepath.Base(word) == word { // without a folder it would be looked for in PATH
		word = "./" + word
	}
	return "is a program, which is named behind --, at the end: -- " + word
}

// address is a host with a port or a path, and no scheme.
var address = lazyregexp.New(`^(localhost|[\w-]+(\.[\w-]+)+|\[[0-9a-fA-F:]+\])(:\d+)?(/\S*)?$|^[\w-]+:\d+(/\S*)?$`)
