package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/schema"
)

// Files are the files in which entries are looked for, in this order: those that editors and hosts read in a project.
var Files = []string{"mcp.json", ".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"}

// NoSSE says of a server on the transport that Streamable HTTP has replaced that it is not reached.
const NoSSE = "HTTP+SSE, the transport of 2024-11-05 with two endpoints, is not spoken"

// entry is one server of an mcp.json. Hosts write more members, which say nothing about how the server is reached.
type entry struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	Cwd     string            `json:"cwd"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	// With either of these, a host does not start the server.
	Disabled bool  `json:"disabled"`
	Enabled  *bool `json:"enabled"`
}

// config is an mcp.json. Hosts use either of the two members.
type config struct {
	MCPServers map[string]json.RawMessage `json:"mcpServers"`
	Servers    map[string]json.RawMessage `json:"servers"`
}

// Names returns the names of all entries, sorted; none if there is no file. On an error it returns those of the files before.
func (s *Spec) Names() ([]string, error) {
	entries, _, err := s.entries()
	return slices.Sorted(maps.Keys(entries)), err
}

// listed is an entry as a file has it.
type listed struct {
	file string
	raw  json.RawMessage
}

// entries reads the files with entries that there are, and returns their names, too. An entry is that of the first file which has one of its name. On an
// error, which is that of the last file, it also returns what it has read.
func (s *Spec) entries() (entries map[string]listed, files []string, err error) {
	names := Files
	if s.Config != "" {
		names = []string{s.Config}
	}
	entries = map[string]listed{}
	for _, name := range names {
		if !filepath.IsAbs(name) {
			name = filepath.Join(s.Dir, filepath.FromSlash(name))
		}
		inFile, err := readConfig(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && s.Config == "":
			continue
		case err != nil:
			return entries, files, err
		}
		files = append(files, name)
		for key, raw := range inFile {
			if _, before := entries[key]; !before {
				entries[key] = listed{name, raw}
			}
		}
	}
	return entries, files, nil
}

// readConfig reads the entries of one file.
func readConfig(name string) (map[string]json.RawMessage, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var c config
	text = plainJSON(bytes.TrimPrefix(text, []byte("\ufeff"))) // a byte order mark, which some editors write
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, notJSON(name, text, err)
	}
	_, ds := schema.ParseJSON(name, text)
	for _, d := range ds {
		if d.Code == "duplicate-key" { // hosts take one or the other
			return nil, fmt.Errorf("%s:%d: %s: %s", name, d.Pos.Line, d.Message, d.Hint)
		}
	}
	if c.MCPServers == nil {
		c.MCPServers = c.Servers
	}
	return c.MCPServers, nil
}

// notJSON names the line of a file that is not JSON, and what to do about it.
func notJSON(name string, text []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Errorf("%s: %w", placeOf(name, text, err), misread(err))
	}
	return fmt.Errorf("%s:%d: %w: the file is read as JSON with comments: mend it, or name another with --config", name, lineOf(text, int(syntax.Offset)-1), err)
}

// lineOf returns the line of an offset in a text.
func lineOf(text []byte, offset int) int {
	return 1 + bytes.Count(text[:min(max(offset, 0), len(text))], []byte("\n"))
}

// misread says of a value in a file which member it is, and what to write there.
func misread(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	what := "an object"
	switch wrong.Type.Kind() {
	case reflect.String:
		what = "a text in quotes"
	case reflect.Slice:
		what = "a list of texts"
	case reflect.Bool:
		what = "true or false"
	}
	where := wrong.Field
	if where != "" {
		where += ": "
	}
	return fmt.Errorf("%swrite %s, not this (%s)", where, what, wrong.Value)
}

// entry returns the entry that the command line names, with its variables expanded.
func (s *Spec) entry() (*entry, error) {
	entries, files, err := s.entries()
	found, ok := entries[s.Name]
	switch {
	case ok: // also if a later file can not be read
	case err != nil:
		return nil, err
	case s.meant() != "":
		return nil, fmt.Errorf("%q is no address and no entry: %s", s.Name, s.meant())
	case len(files) == 0:
		return nil, fmt.Errorf("%q is no address, and there is no %s here with an entry of that name; put -- before a command", s.Name, strings.Join(Files, ", no "))
	default:
		return nil, s.unlisted(files, slices.Sorted(maps.Keys(entries)))
	}
	raw, file := found.raw, found.file
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, fmt.Errorf("%s: %s: the entry can not be read: %w", placeOf(file, raw, err), s.Name, misread(err))
	}
	if key := e.switchedOff(); key != "" {
		return nil, fmt.Errorf("%s: %s: the entry has %s: remove that to use it here, or name the server by its address, or by its command after --", file, s.Name, key)
	}
	if err := s.expand(&e); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", file, s.Name, err)
	}
	if (e.Command == "") == (e.URL == "") {
		return nil, fmt.Errorf("%s: %s: an entry has either a command or a url", file, s.Name)
	}
	if e.Type == "sse" {
		return nil, fmt.Errorf("%s: %s: %s; write the url of the server's Streamable HTTP endpoint, and \"type\": \"http\"", file, s.Name, NoSSE)
	}
	return &e, nil
}

// switchedOff returns the member, with its value, with which somebody has said that the server is not to be used; "" for none.
func (e *entry) switchedOff() string {
	switch {
	case e.Disabled:
		return `"disabled": true`
	case e.Enabled != nil && !*e.Enabled:
		return `"enabled": false`
	}
	return ""
}

// unlisted returns the error for a name that no entry of the files has; names are those that they have.
func (s *Spec) unlisted(files, names []string) error {
	has, it := "has", "it has "
	if len(files) > 1 {
		has, it = "have", "they have "
	}
	hint := schema.DidYouMean(s.Name, names)
	switch {
	case len(names) == 0:
		hint = it + "none"
	case hint == "":
		hint = it + strings.Join(names, ", ")
	}
	return fmt.Errorf("%s %s no entry %q: %s", strings.Join(files, " and "), has, s.Name, hint)
}

// placeOf returns the file, with the line of the value in an entry that can not be read.
func placeOf(file string, raw json.RawMessage, err error) string {
	text, _ := os.ReadFile(file) // it has just been read
	start := bytes.Index(plainJSON(text), raw)
	var wrong *json.UnmarshalTypeError
	if start < 0 || !errors.As(err, &wrong) {
		return file
	}
	return fmt.Sprintf("%s:%d", file, lineOf(text, start+int(wrong.Offset)-1))
}

func (e *entry) process() *client.Process {
	p := &client.Process{Path: e.Command, Args: e.Args, Dir: e.Cwd}
	if len(e.Env) > 0 {
		p.Env = os.Environ()
		for _, name := range slices.Sorted(maps.Keys(e.Env)) {
			p.Env = append(p.Env, name+"="+e.Env[name])
		}
	}
	return p
}

// variable matches a variable in a value, as hosts write it.
var variable = lazyregexp.New(`\$\{(?:env:)?([^}:]+)(:[^}]*)?\}`)

// expand replaces environment variables. Others, such as inputs that an editor asks for, are an error.
func (s *Spec) expand(e *entry) error {
	var errs []error
	value := func(text string) string {
		return variable().ReplaceAllStringFunc(text, func(v string) string {
			part := variable().FindStringSubmatch(v)
			fallback, hasFallback := strings.CutPrefix(part[2], ":-")
			value, ok := s.Env(part[1])
			switch {
			case part[2] != "" && !hasFallback:
				errs = append(errs, fmt.Errorf("%s is asked for by an editor: only variables of the environment are known here", v))
			case !ok && !hasFallback:
				errs = append(errs, fmt.Errorf("%s: %s is not in the environment", v, part[1]))
			case !ok:
				return fallback
			}
			return value
		})
	}
	e.Command, e.URL, e.Cwd = value(e.Command), value(e.URL), value(e.Cwd)
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = value(e.Args[i])
	}
	for _, m := range []map[string]string{e.Env, e.Headers} {
		for name := range m {
			m[name] = value(m[name])
		}
	}
	return errors.Join(errs...)
}
