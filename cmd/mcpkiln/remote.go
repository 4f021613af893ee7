package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/target"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/schema"
)

// remote are the flags of all commands that talk to a server.
type remote struct {
	config   string
	headers  []string
	revision string
	timeout  time.Duration
	json     bool
	verbose  bool
	// misplaced is the first word after -- that is a flag of this command; "" for none.
	misplaced string
	server    string // what the user calls the server
	entry     string // the entry of an mcp.json that it is; "" if it is not one
}

func (r *remote) register(cmd *cobra.Command) {
	r.connection(cmd)
	cmd.Flags().BoolVar(&r.json, "json", false, "print what the server said, as one line of JSON")
}

// connection registers the flags that say how to reach the server.
func (r *remote) connection(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.config, "config", "", "mcp.json with the entry that is named; by default "+strings.Join(target.Files, ", ")+" of this directory")
	f.StringArrayVarP(&r.headers, "header", "H", nil, "`'Name: value'` for every HTTP request; can be repeated")
	f.StringVar(&r.revision, "revision", "", "protocol revision to speak; by default the newest that the server has, too")
	f.DurationVar(&r.timeout, "timeout", 0, "how long each request may take, those that begin the session together, and then a task; questions to you stop the clock; by default a minute without progress, and 10m")
	f.BoolVarP(&r.verbose, "verbose", "v", false, "show what a server on a pipe writes to its standard error, and log records of both sides; lines of the server are marked")
}

// words splits arguments at --, into those before it and a command.
func words(cmd *cobra.Command, args []string) (before, command []string) {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		return args[:at], args[at:]
	}
	return args, nil
}

// named takes the target from the arguments, and returns the others: it is the command after --, or else the first argument.
func (r *remote) named(cmd *cobra.Command, args []string) (t client.Transport, rest []string, err error) {
	before, command := words(cmd, args)
	spec := r.spec()
	spec.Command = command
	if len(command) > 0 && strings.HasPrefix(command[0], "-") {
		return nil, nil, refused(fmt.Errorf("%s: what follows -- is the command of a server; write flags before --", command[0]))
	}
	r.noteMisplaced(cmd, command)
	if cmd.ArgsLenAtDash() < 0 && len(before) > 0 {
		spec.Name, before = before[0], before[1:]
	}
	r.entry = entryOf(spec)
	t, err = interruptibly(cmd.Context(), spec.Transport)
	r.server = spec.ServerName()
	switch {
	case len(command) > 0 && namesServer(spec, before):
		err = fmt.Errorf("a server is named twice, as %s and by the command behind --: write one of them", before[0])
	case len(command) == 0 && err != nil:
		err = misplacedServer(spec, before, err)
	}
	return t, before, refused(err)
}

// misplacedServer returns an error for a server that is named behind the tool; err if none is.
func misplacedServer(spec *target.Spec, words []string, err error) error {
	for _, word := range words {
		if isAddress(word) {
			return fmt.Errorf("%s: the address comes first", word)
		}
		if program := spec.Program(word); program != "" {
			return fmt.Errorf("%s %s", word, program)
		}
	}
	return err
}

// namesServer reports whether the first of the words before -- is an address, or an entry with a tool behind it.
func namesServer(spec *target.Spec, before []string) bool {
	switch {
	case len(before) == 0:
		return false
	case isAddress(before[0]):
		return true
	}
	entries, _ := spec.Names() // without a file there is none
	isTool := func(word string) bool {
		return !strings.Contains(word, "=") && !strings.HasPrefix(word, "@") && word != "-"
	}
	return len(before) > 1 && isTool(before[1]) && slices.Contains(entries, before[0])
}

// noteMisplaced notes a word of a server's command that may have been meant for this command.
func (r *remote) noteMisplaced(cmd *cobra.Command, command []string) {
	for _, word := range command {
		name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if r.misplaced == "" && strings.HasPrefix(word, "--") && cmd.Flags().Lookup(name) != nil {
			r.misplaced = word
		}
	}
}

// entryOf returns the name of the entry of an mcp.json that is the server; "" if it is not one.
func entryOf(s *target.Spec) string {
	if isAddress(s.Name) {
		return ""
	}
	return s.Name
}

// isAddress reports whether a word is the address of a server.
func isAddress(word string) bool {
	return strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://")
}

func (r *remote) spec() *target.Spec {
	return &target.Spec{Config: r.config, Headers: r.headers, Dir: ".", Env: os.LookupEnv}
}

// tool is a server's definition of one of its tools.
type tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  map[string]any  `json:"annotations"`
	Execution    struct {
		TaskSupport string `json:"taskSupport"`
	} `json:"execution"`
	raw json.RawMessage
}

// maxQuoted limits how much of a server's answer a message quotes, in bytes.
const maxQuoted = 200

// excerpt returns the beginning of a server's answer, on one line.
func excerpt(raw []byte) string { return plain.Line(rpc.CutTo(string(raw), maxQuoted)) }

// tools reads the definitions of all tools. Those that can not be read are left out with a warning each, and find says why.
func (v *visit) tools() (all []tool, err error) {
	d, err := v.session.Describe(v.ctx)
	switch {
	case errors.As(err, new(*client.Error)):
		return nil, fmt.Errorf("tools/list: %w", err)
	case err != nil:
		return nil, err
	}
	v.leftOut = d.LeftOut // the session has warned of these
	for _, raw := range d.Tools {
		one, why := readTool(raw)
		if why != "" {
			v.warn(plain.Line(fmt.Sprintf("a tool was left out (name %s): %s", one.Name, why)))
			v.leftOut = append(v.leftOut, client.LeftOut{Name: one.Name, Why: why})
			continue
		}
		all = append(all, one)
	}
	return all, nil
}

// readTool reads a definition, or returns why it can not be read.
func readTool(raw json.RawMessage) (one tool, why string) {
	one.raw = raw
	err := json.Unmarshal(raw, &one)
	if err == nil {
		return one, ""
	}
	var bad *json.UnmarshalTypeError
	if !errors.As(err, &bad) {
		return one, "it can not be read: " + excerpt(raw)
	}
	kind := "object"
	if bad.Type.Kind() == reflect.String {
		kind = "string"
	}
	name, _, _ := strings.Cut(bad.Field, ".")
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members) // it was read above
	return one, fmt.Sprintf("its %s is no %s: %s", bad.Field, kind, excerpt(members[name]))
}

// maxNames limits how many tools a message names.
const maxNames = 12

// find returns the tool of that name. The error for an unknown name suggests the nearest, or lists the names.
func find(all []tool, name string) (*tool, error) {
	var names []string
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
		names = append(names, plain.Line(all[i].Name))
	}
	hint := schema.DidYouMean(name, names)
	switch {
	case len(names) == 0:
		hint = "it has no tools"
	case hint == "":
		hint = "it has " + listed(names)
	}
	return nil, refused(fmt.Errorf("the server has no tool %q: %s", name, hint))
}

// listed returns names for a message, at most maxNames of them.
func listed(names []string) string {
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
}

// nearestFirst returns names for a message, in order behind the one that word is probably a misspelling of.
func nearestFirst(word string, names []string) string {
	slices.Sort(names)
	if at := slices.Index(names, schema.Nearest(word, names)); at > 0 {
		names = slices.Concat(names[at:at+1], names[:at], names[at+1:])
	}
	return listed(names)
}

// firstWithTasks is the first revision of the protocol that has tasks.
const firstWithTasks = "2025-11-25"

// find is like the function find, but its error says why a tool was left out, or in a revision without tasks may be missing.
func (v *visit) find(all []tool, name string) (*tool, error) {
	one, err := find(all, name)
	if err == nil {
		return one, nil
	}
	for _, missing := range v.leftOut {
		if missing.Name == name {
			return nil, refused(fmt.Errorf("the server's definition of %q breaks the protocol, so it is not called: %s", name, plain.Line(missing.Why)))
		}
	}
	if used := v.session.Revision(); used < firstWithTasks {
		err = refused(fmt.Errorf("%w\n  tools that only run as tasks are not listed in %s, which has none", err, used))
	}
	return one, err
}
