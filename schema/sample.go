package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// samples validates defaults and examples by the schema that they are in. Both are annotations: for a wrong default there is only a
// warning that it is not applied.
func (l *linter) samples() {
	for _, n := range l.sampled {
		if reason := l.doc.refusal(n, n.Get("default")); reason != "" {
			l.ds.Warn(n.Get("default"), "impossible-default", "correct or remove it", "the default is not applied, because it does not satisfy its own schema: %s", reason)
		}
		for _, v := range n.Get("examples").items() {
			if reason := l.doc.refusal(n, v); reason != "" {
				l.ds.Warn(v, "impossible-example", "correct or remove it", "example does not satisfy its schema: %s", reason)
			}
		}
	}
	for _, n := range l.met {
		l.counted(n)
	}
}

// refusals caches the validation of a document's defaults and examples.
type refusals struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	broken   error // the error of compiling the document: a second attempt would panic
	reasons  map[sample]string
}

// sample is a value that a schema validates.
type sample struct{ schema, value *Node }

// refusal returns why the schema n refuses v, or "". A nil v is allowed.
func (d *Document) refusal(n, v *Node) string {
	if v == nil || simplySatisfies(n, v) {
		return ""
	}
	r := d.refused
	r.mu.Lock()
	defer r.mu.Unlock()
	reason, known := r.reasons[sample{n, v}]
	if !known {
		if r.compiler == nil {
			r.compiler = newCompiler(d)
			_, r.broken = r.compiler.Compile(documentURL)
		}
		reason = reasonOf(r.broken)
		if r.broken == nil {
			reason = satisfies(r.compiler, strings.TrimPrefix(n.Pointer, d.Root.Pointer), v)
		}
		r.reasons[sample{n, v}] = reason
	}
	return reason
}

// RefusesDefault reports whether a schema refuses its own default v, which may be in a shared schema of d.
func (d *Document) RefusesDefault(v *Node) bool {
	home := d.home(v)
	owner, _ := strings.CutSuffix(strings.TrimPrefix(v.Pointer, home.Root.Pointer), "/default")
	n := home.Root.Lookup(owner)
	return n != nil && n.Get("default") == v && home.refusal(n, v) != ""
}

// simplySatisfies validates without compiling, if the schema has only simple keywords, as nearly all with a default do: compiling costs more than
// the rest of generating a tool. false means unknown.
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
	x, y := v.Rat(), limit.Rat()
	return x == nil || y == nil || x.Cmp(y) == side
}

// documentURL is the URL of the document for the reference validator. All others are refused: it would read
// file:// references from the disk (VAL06).
const documentURL = "mem://document"

func newCompiler(d *Document) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if d.Dialect == Draft7 {
		c.Draft = jsonschema.Draft7
	}
	c.LoadURL = refuseURL
	// The text is valid JSON, since it was written from nodes; other errors are found when it is compiled.
	root, _ := ParseJSON("", d.Bundle().JSON())
	RewritePatterns(root, func(text string) string {
		if re2, err := GoPattern(text); err == nil {
			return re2
		}
		return text
	})
	_ = c.AddResource(documentURL, bytes.NewReader(root.JSON()))
	return c
}

// RewritePatterns replaces the patterns of a schema by what rewrite returns for each, as for a validator with Go's syntax. It changes n in place:
// nothing else may use it.
func RewritePatterns(n *Node, rewrite func(string) string) {
	if p := n.Get("pattern"); p.Is(String) {
		p.Text = rewrite(p.Text)
	}
	if p := n.Get("patternProperties"); p.Is(Object) {
		for i := range p.Members {
			p.Members[i].Key = rewrite(p.Members[i].Key)
		}
	}
	subschemas(n, func(sub *Node) { RewritePatterns(sub, rewrite) })
}

// GoPattern returns a pattern, which is of ECMA-262, in Go's syntax. The error is about one that has more than Go's regular expressions.
func GoPattern(text string) (string, error) {
	re2, err := pattern.RE2(text)
	if err == nil {
		_, err = regexp.Compile(re2)
	}
	return re2, err
}

// satisfies returns why the schema at pointer refuses v, or "".
func satisfies(c *jsonschema.Compiler, pointer string, v *Node) string {
	compiled, err := c.Compile(documentURL + "#" + escapeFragment(pointer))
	if err == nil {
		err = compiled.Validate(v.Value())
	}
	return reasonOf(err)
}

// reasonOf is the message of the reference validator's error, about its innermost cause.
func reasonOf(err error) string {
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
