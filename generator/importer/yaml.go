package importer

import (
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/pretty"
)

// yaml returns the manifest as YAML.
func (d *draft) yaml() []byte {
	w := &pretty.Writer{Comments: map[*schema.Node][]string{}}
	root := object()
	put(root, "version", &schema.Node{Kind: schema.Number, Text: "1"})
	put(root, "server", d.server)
	put(root, "go", d.packages())
	w.Comments[d.server] = d.aboutServer()
	if len(d.schemas.Members) > 0 {
		w.Comments[d.schemas] = []string{"", "Several tools have these. Clients see them in the $defs of each."}
		put(root, "schemas", d.schemas)
	}
	w.Comments[d.tools] = d.aboutTools()
	put(root, "tools", d.tools)
	if d.o.Suggest {
		d.suggest(w.Comments)
	}
	return w.Append(d.header(), root, 0)
}

// packages returns the go member of the manifest: the packages to generate.
func (d *draft) packages() *schema.Node {
	out, name := object(), d.packageName()
	if d.o.Client {
		put(out, "client", text(name+"client"))
		return out
	}
	put(out, "package", text(name))
	put(out, "out", text("internal/"+name))
	return out
}

func (d *draft) header() []byte {
	what := "mcpkiln generate writes the package of a server with them; a type of yours implements its Handlers."
	if d.o.Client {
		what = "mcpkiln generate writes a client of it, with a method for each tool."
	}
	said := "the answer to tools/list"
	if d.source.Revision != "" {
		said += " in protocol " + d.source.Revision
	}
	text := "# Tools imported from " + said + ".\n# " + what + "\n"
	if d.o.Schema != "" {
		text += "# yaml-language-server: $schema=./" + d.o.Schema + "\n"
	}
	return []byte(text)
}

// aboutServer returns comments on what is missing, and on the revisions that are served.
func (d *draft) aboutServer() (lines []string) {
	if r := d.source.Revision; r != "" && !d.o.Client {
		lines = append(lines, "All revisions of the protocol are served, not only that of the source, unless they are named:", `protocol: {revisions: ["`+r+`"]}`)
	}
	if d.unnamed {
		lines = append(lines, "The source does not say who it is: put the name and the version of the server here.")
	}
	return lines
}

// aboutTools returns comments on what may be changed, and on what was left out.
func (d *draft) aboutTools() []string {
	lines := []string{""}
	if !d.o.Client {
		lines = append(lines, "Clients see these as they stand here. How a call runs is not in an answer to tools/list: write timeout,",
			"cancellation, elicitations and more of execution where a tool needs them (mcpkiln schema has all keys).")
	}
	for _, l := range d.lost {
		lines = append(lines, pretty.Wrap("Not kept: "+strings.Join(strings.Fields(l.String()), " "), pretty.Width)...)
	}
	return lines
}
