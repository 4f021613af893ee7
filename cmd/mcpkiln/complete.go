package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// completionTime is how long a shell waits for a server when somebody presses tab.
const completionTime = 3 * time.Second

// What complete completes.
const (
	toolOnly         = false
	toolAndArguments = true
)

// complete completes the words of tools and call: names of mcp.json entries and of tools, and if arguments is true, the arguments of a tool.
// Nothing is offered if the server does not answer in time.
func (r *remote) complete(arguments bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		none := cobra.ShellCompDirectiveNoFileComp
		switch {
		case len(args) == 0:
			return r.names(), none
		case strings.HasPrefix(word, "@"):
			return nil, cobra.ShellCompDirectiveDefault
		}
		all := r.listed(cmd, args[0])
		if len(args) == 1 {
			var names offered
			for i := range all {
				names.add(all[i].Name, all[i].summary())
			}
			return names, none
		}
		if one, err := find(all, args[1]); err == nil && arguments {
			return completions(one.InputSchema, word), none | cobra.ShellCompDirectiveNoSpace
		}
		return nil, none
	}
}

// names returns those of the entries of mcp.json.
func (r *remote) names() (all offered) {
	names, _ := r.spec().Names() // without a file there is none
	for _, name := range names {
		all.add(name, "")
	}
	return all
}

// harmlessWord matches what no shell takes for more than a word, and the command for no flag or file. Its classes take long to compile, so that only
// completion does.
var harmlessWord = lazyregexp.New(`^[\p{L}\p{N}_.:/][\p{L}\p{N}_.:/=@%+,-]*$`)

// offered are the completions of a word. A server or the file of a folder chooses them, and shells evaluate a line to complete it: so others than harmless
// ones are left out.
type offered []cobra.Completion

func (o *offered) add(word, about string) {
	if harmlessWord().MatchString(word) {
		*o = append(*o, cobra.CompletionWithDesc(word, about))
	}
}

// listed returns the tools of a server on HTTP; none if it does not answer.
func (r *remote) listed(cmd *cobra.Command, name string) (all []tool) {
	spec := r.spec()
	spec.Name = name
	if r.unasked(name) {
		spec.Env = func(string) (string, bool) { return "", false }
	}
	t, err := spec.Transport()
	if _, command := t.(*client.Process); err != nil || command { // who presses tab has not asked to run the command of a file
		return nil
	}
	defer r.completes(cmd)()
	_ = r.visit(cmd, t, nil, func(v *visit) (err error) {
		all, err = v.tools()
		return err
	})
	return all
}

// unasked reports whether a name is that of an entry in a file that the user has not named. Whoever presses tab in a folder has not agreed to send
// the variables of the environment, and the token, where its file says.
func (r *remote) unasked(name string) bool { return r.config == "" && !isAddress(name) }

// completes has the session, and all of its requests together, wait no longer than a user who presses tab, until done is called.
func (r *remote) completes(cmd *cobra.Command) (done func()) {
	if r.timeout == 0 {
		r.timeout = completionTime
	}
	ctx, done := context.WithTimeout(cmd.Context(), r.timeout)
	cmd.SetContext(ctx)
	return done
}

// completions returns the properties of an object, or after NAME= the values that its schema lists for one.
func completions(schema json.RawMessage, word string) (all offered) {
	e := newExplainer(schema)
	properties, _ := e.object()
	name, _, written := strings.Cut(word, "=")
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		p := e.property(properties[key])
		if !written {
			all.add(key+p.sign(), p.about())
			continue
		}
		if key == name {
			for _, value := range p.values() {
				all.add(key+"="+value, "")
			}
		}
	}
	return all
}

// sign returns what separates the name of an argument from its value.
func (p *property) sign() string {
	if p.Type == "object" {
		return ":="
	}
	return "="
}

// values returns the values that a schema lists, for itself, its items, or one of several that it may be.
func (p *property) values() (all []string) {
	if p.Type == "boolean" {
		return []string{"true", "false"}
	}
	listed := p.Enum
	if p.Const != nil {
		listed = append(listed, p.Const)
	}
	for _, raw := range listed {
		text := string(raw)
		_ = json.Unmarshal(raw, &text)
		all = append(all, text)
	}
	if p.items != nil {
		all = append(all, p.items.values()...)
	}
	for i := range p.choices {
		all = append(all, p.choices[i].values()...)
	}
	return all
}
