package lower

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// customMethods names the custom methods. A method that some revision of the protocol has is refused, whether that revision is served or
// not: a client of that revision would mean the protocol's method.
func (l *packageLowering) customMethods() {
	for i := range l.in.Manifest.CustomMethods {
		c := &l.in.Manifest.CustomMethods[i]
		if ruleIn(l.in.Known(), c.Name) != nil {
			hint := "give yours another name"
			if rule := l.ruleOf(c.Name); rule != nil && l.listable(rule) {
				hint = "list it in methods, or " + hint
			}
			l.diags.ReportAt(c.Pos, c.Node.Pointer, "protocol-method", hint, "the protocol has a method %q", c.Name)
			continue
		}
		stem, doc := customName(c), textLines(c.Description.Value)
		if !c.FromServer {
			l.takeHandler(stem, named{what: "method " + c.Name, pos: c.Pos, node: c.Node, goName: c.GoName})
		}
		switch {
		case c.FromServer && c.Notification():
			l.pkg.NoticesSent = append(l.pkg.NoticesSent, &model.Notice{Name: c.Name, GoName: l.types.Names.Take("Notify" + stem),
				Var: l.types.Names.Take(naming.Unexported(stem) + "Notification"), Doc: doc})
		case c.FromServer:
			l.pkg.Sends = append(l.pkg.Sends, &model.Send{Name: c.Name, GoName: l.types.Names.Take(stem), Var: l.types.Names.Take(naming.Unexported(stem) + "Request"),
				Op: "CustomRequest", Extension: c.Extension.Value, Doc: doc, AgainDoc: l.runAgain()})
		case c.Notification():
			l.pkg.NoticesTaken = append(l.pkg.NoticesTaken, &model.NoticeHandler{Name: c.Name, GoName: stem, Doc: doc})
		default:
			l.pkg.Methods = append(l.pkg.Methods, &model.MethodHandler{Name: c.Name, GoName: stem, Custom: true, Doc: doc})
		}
	}
}

// customName is what the Go names for a custom method begin with: its name without the prefix notifications/.
func customName(c *manifest.CustomMethod) string {
	name := strings.TrimPrefix(c.Name, "notifications/")
	if c.FromServer {
		return goNameOf(name, c.GoName) // a function sends it
	}
	return methodName("", name, c.GoName)
}

// customTypes lowers params and results of custom methods, like a tool's input and output.
func (l *packageLowering) customTypes() {
	all := l.in.Manifest.CustomMethods
	named := func(name string) *manifest.CustomMethod {
		return &all[slices.IndexFunc(all, func(c manifest.CustomMethod) bool { return c.Name == name })]
	}
	for _, m := range l.pkg.Methods {
		if !m.Custom {
			continue
		}
		c := named(m.Name)
		m.Hidden = hiddenOf(c.Params, c.Result)
		m.Params = l.customType(c, c.Params, "Params", "is sent with", model.Decode)
		m.Result = l.customType(c, c.Result, "Result", "is answered with", model.Decode|model.Encode)
		l.later = append(l.later, func() { m.Views = []model.View{{Append: m.Result.Append}} })
	}
	for _, s := range l.pkg.Sends {
		if s.Extension == "" {
			continue
		}
		c := named(s.Name)
		s.Hidden = hiddenOf(c.Params, c.Result)
		s.Params = l.customType(c, c.Params, "Params", "is sent with", model.Decode|model.Encode)
		s.Result = l.customType(c, c.Result, "Result", "is answered with", model.Decode)
		l.later = append(l.later, func() { s.Views = []model.View{{Append: s.Params.Append}} })
	}
	for _, n := range l.pkg.NoticesSent {
		c := named(n.Name)
		n.Hidden = hiddenOf(c.Params, c.Result)
		n.Params = l.customType(c, c.Params, "Params", "is sent with", model.Decode|model.Encode)
	}
	for _, n := range l.pkg.NoticesTaken {
		c := named(n.Name)
		n.Hidden = hiddenOf(c.Params, c.Result)
		n.Params = l.customType(c, c.Params, "Params", "is sent with", model.Decode)
	}
}

// customType lowers the params or the result of a custom method; part is the end of the type's name.
func (l *packageLowering) customType(c *manifest.CustomMethod, d *schema.Document, part, what string, use model.Use) model.TypeRef {
	goName := customName(c)
	return l.types.Lower(typing.Root{Document: d, Name: goName + part, DefsPrefix: goName, Use: use, Sent: use&model.Encode != 0, Hidden: hiddenOf(c.Params, c.Result),
		Doc: []string{goName + part + " is what " + c.Name + " " + what + "."}})
}

// hiddenOf are the properties of a tool or a method that are x-sensitive, for check.Hiding. output may be nil.
func hiddenOf(input, output *schema.Document) string {
	if !input.MentionsSensitive() && (output == nil || !output.MentionsSensitive()) {
		return ""
	}
	schemas := append([]byte{'['}, input.Bundle().JSON()...)
	if output != nil {
		schemas = append(append(schemas, ','), output.Bundle().JSON()...)
	}
	return check.Sensitive(string(append(schemas, ']')))
}

// extensions are the names of the extensions that the server declares.
func (l *packageLowering) extensions() (names []string) {
	for _, e := range l.in.Manifest.Extensions {
		names = append(names, e.Value)
	}
	return names
}
