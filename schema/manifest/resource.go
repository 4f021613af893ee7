package manifest

import (
	"cmp"
	"errors"
	"math/big"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/runtime/uritemplate"
	"github.com/mcpkiln/mcpkiln/schema"
)

func (l *loader) resources(n *schema.Node) {
	if !l.is(n, schema.Object) {
		return
	}
	first := map[string]schema.Position{}
	for _, m := range n.Members {
		r := Resource{Listed: l.listed(m, "resource")}
		readers := l.resourceReaders(&r.Listed, &r.MIMEType, &r.Subscribe)
		readers["uri"] = func(n *schema.Node) { r.URI = l.fixedURI(n) }
		readers["size"] = func(n *schema.Node) {
			if size := n.Rat(); n.Kind != schema.Number || size == nil || !size.IsInt() || size.Sign() < 0 {
				l.ds.Report(n, "wrong-type", "", "size is a number of bytes")
			}
		}
		l.fields(m.Value, "a resource", readers, "uri")
		if at, ok := first[r.URI.Value]; ok && r.URI.Value != "" {
			l.ds.Report(r.URI.Node, "same-uri", "", "the resource at %s already has this URI", at)
		} else if r.URI.Node != nil {
			first[r.URI.Value] = r.URI.Node.Pos
		}
		l.m.Resources = append(l.m.Resources, r)
	}
}

// fixedURI reads the URI of one resource.
func (l *loader) fixedURI(n *schema.Node) Text {
	if n.Kind == schema.String && strings.Contains(n.Text, "{") {
		l.ds.Report(n, "no-uri", "write it under resourceTemplates, as uriTemplate", "the address of one resource has no variables")
		return Text{Node: n}
	}
	return l.address(n)
}

// resourceReaders read the keys that both resources and templates have.
func (l *loader) resourceReaders(e *Listed, mime *Text, subscribe *Flag) map[string]func(*schema.Node) {
	readers := l.listedReaders(e)
	readers["mimeType"] = func(n *schema.Node) { *mime = l.mimeType(n) }
	readers["subscribe"] = l.flag(subscribe)
	readers["annotations"] = l.resourceAnnotations
	return readers
}

var mimeType = lazyregexp.New(`^[^\s/;]+/[^\s/;]+`)

func (l *loader) mimeType(n *schema.Node) Text {
	t := l.text(n)
	if n.Kind == schema.String && !mimeType().MatchString(t.Value) {
		l.ds.Report(n, "mime-type", "write one such as text/markdown", "%.80q is no MIME type", t.Value)
	}
	return t
}

func (l *loader) resourceAnnotations(n *schema.Node) {
	l.fields(n, "annotations of a resource", map[string]func(*schema.Node){
		"audience": func(n *schema.Node) {
			if l.is(n, schema.Array) {
				for _, item := range n.Items {
					choice(l, item, "user", "assistant")
				}
			}
		},
		"priority": func(n *schema.Node) {
			if p := n.Rat(); n.Kind != schema.Number || p == nil || p.Sign() < 0 || p.Cmp(big.NewRat(1, 1)) > 0 {
				l.ds.Report(n, "wrong-type", "", "priority is a number from 0 to 1")
			}
		},
		"lastModified": func(n *schema.Node) { l.text(n) },
	})
}

func (l *loader) resourceTemplates(n *schema.Node) {
	if !l.is(n, schema.Object) {
		return
	}
	for _, m := range n.Members {
		l.m.ResourceTemplates = append(l.m.ResourceTemplates, l.resourceTemplate(m))
	}
	all := l.m.ResourceTemplates
	for i := range all {
		for j := range i {
			l.overlap(&all[j], &all[i])
		}
	}
}

func (l *loader) resourceTemplate(m schema.Member) ResourceTemplate {
	r := ResourceTemplate{Listed: l.listed(m, "resource template")}
	variables := &schema.Node{Kind: schema.Object, Pos: m.Value.Pos, Pointer: m.Value.Pointer}
	readers := l.resourceReaders(&r.Listed, &r.MIMEType, &r.Subscribe)
	readers["uriTemplate"] = func(n *schema.Node) { r.URITemplate, r.Template = l.template(n) }
	readers["variables"] = func(n *schema.Node) {
		if l.is(n, schema.Object) {
			variables = n
		}
	}
	l.fields(m.Value, "a resource template", readers, "uriTemplate")
	if r.Template != nil {
		l.variables(&r, variables)
	}
	return r
}

func (l *loader) template(n *schema.Node) (Text, *uritemplate.Template) {
	t := l.text(n)
	if n.Kind != schema.String {
		return t, nil
	}
	template, err := uritemplate.Parse(t.Value)
	if wrong := (*uritemplate.Error)(nil); errors.As(err, &wrong) {
		l.ds.Report(n, "uri-template", wrong.Instead, "%s", wrong.Why)
	}
	return t, template
}

// variables reads the schemas of a template's variables. One without a schema is a string; only variables of the query may be absent.
func (l *loader) variables(r *ResourceTemplate, n *schema.Node) {
	object := newObjectSchema(n)
	var names []string
	for _, v := range r.Template.Variables() {
		names = append(names, v.Name)
		m := schema.Member{Key: v.Name, KeyPos: r.URITemplate.Node.Pos, Value: &schema.Node{Kind: schema.Object, Pos: r.URITemplate.Node.Pos, Pointer: r.URITemplate.Node.Pointer}}
		if own := n.Member(v.Name); own != nil {
			m = *own
		}
		a := l.argument(m, "a variable", []string{"string", "integer", "number", "boolean"})
		if secret := m.Value.Get("x-sensitive"); secret != nil {
			l.ds.Report(secret, "sensitive", "make it an argument of a tool or a prompt", "a variable is part of an address, which is shown, logged and cached")
		}
		required := m.Value.Get("required")
		a.Required = !v.Query || required.Is(schema.Bool) && required.Text == "true"
		if !v.Query && required.Is(schema.Bool) && required.Text == "false" {
			l.ds.Report(required, "required-variable", "write {?"+v.Name+"} at the end of the template for one that may be absent", "no URI of the template is without %s", v.Name)
		}
		object.add(m, a.Required, v.List)
		r.Variables = append(r.Variables, a)
	}
	for _, m := range n.Members {
		if !slices.Contains(names, m.Key) {
			l.ds.ReportAt(m.KeyPos, m.Value.Pointer, "unknown-variable", cmp.Or(schema.DidYouMean(m.Key, names), "remove it, or write {"+m.Key+"} in the template"), "the template %s has no variable %q", r.Template, m.Key)
		}
	}
	r.Schema = l.schema(object.root)
}

// overlap refuses two templates that match the same URI: which of them serves it would depend on their order.
func (l *loader) overlap(a, b *ResourceTemplate) {
	if a.Template == nil || b.Template == nil {
		return
	}
	if uri, ok := uritemplate.Overlap(a.Template, b.Template); ok {
		l.ds.Report(b.URITemplate.Node, "overlapping-templates", "tell them apart by a fixed part of the URI", "the templates of %q (%s) and %q both match %s",
			a.Name, a.URITemplate.Node.Pos, b.Name, uri)
	}
}
