package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// samples holds defaults and examples against the schema that they stand in. A wrong default is an error, because
// it becomes a value that the handler sees; a wrong example is a warning.
func (l *linter) samples() {
	var compiler *jsonschema.Compiler
	for _, n := range l.sampled {
		list := slices.Clone(n.Get("examples").items())
		if d := n.Get("default"); d != nil {
			list = append(list, d)
		}
		for _, v := range list {
			if simplySatisfies(n, v) {
				continue
			}
			if compiler == nil {
				compiler = newCompiler(l.doc)
			}
			l.sample(compiler, n, v)
		}
	}
}

func (l *linter) sample(c *jsonschema.Compiler, n, v *Node) {
	reason := satisfies(c, strings.TrimPrefix(n.Pointer, l.doc.Root.Pointer), v)
	switch {
	case reason == "":
	case v == n.Get("default"):
		l.ds.Report(v, "impossible-default", "", "default does not satisfy its own schema: %s", reason)
	default:
		l.ds.Warn(v, "impossible-example", "", "example does not satisfy its schema: %s", reason)
	}
}

// simplySatisfies answers for the schemas that nearly all defaults stand in, without compiling anything: compiling
// costs more than the rest of generating a tool. false means that it does not know.
func simplySatisfies(n, v *Node) bool {
	return !slices.ContainsFunc(n.Members, func(m Member) bool {
		f, known := keywords[m.Key]
		switch m.Key {
		case "type":
			return !hasType(m.Value, v)
		case "enum":
			return !slices.ContainsFunc(m.Value.Items, func(o *Node) bool { return Equal(o, v) })
		case "minimum":
			return compare(v, m.Value, -1)
		case "maximum":
			return compare(v, m.Value, +1)
		case "items":
			return v.Kind == Array && len(v.Items) > 0
		case "title", "description", "default", "examples", "$comment":
			return false
		}
		return known && (f != formBool || m.Key == "uniqueItems" && v.Kind == Array)
	})
}

// compare reports whether v is on the given side of the limit, or can not be compared with it.
func compare(v, limit *Node, side int) bool {
	x, y := number(v), number(limit)
	return x == nil || y == nil || x.Cmp(y) == side
}

// documentURL is where the reference validator finds the document. Everything else is refused: it would read
// file:// references from the disk (VAL06).
const documentURL = "mem://document"

func newCompiler(d *Document) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if d.Dialect == Draft7 {
		c.Draft = jsonschema.Draft7
	}
	c.LoadURL = refuseURL
	// The text was parsed before, so that it is JSON; what else is wrong with it comes out when it is compiled.
	_ = c.AddResource(documentURL, bytes.NewReader(d.Bundle().JSON()))
	return c
}

// satisfies returns why the schema at pointer refuses v, or "".
func satisfies(c *jsonschema.Compiler, pointer string, v *Node) string {
	compiled, err := c.Compile(documentURL + "#" + escapeFragment(pointer))
	if err == nil {
		err = compiled.Validate(v.Value())
	}
	var violation *jsonschema.ValidationError
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &violation):
		return "the schema does not compile: " + strings.TrimPrefix(err.Error(), "jsonschema: ")
	}
	for len(violation.Causes) > 0 {
		violation = violation.Causes[0]
	}
	if violation.InstanceLocation == "" {
		return violation.Message
	}
	return fmt.Sprintf("at %s: %s", violation.InstanceLocation, violation.Message)
}

func escapeFragment(pointer string) string {
	return (&url.URL{Fragment: pointer}).EscapedFragment()
}

func refuseURL(u string) (io.ReadCloser, error) {
	return nil, fmt.Errorf("%s leads out of the document", quote(u))
}
