package change

import (
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// server compares the name and the description of the server.
func (c *comparison) server() {
	old, new := c.old.Package.Server, c.new.Package.Server
	p := at("", c.new.Manifest.Root.Pos, c.new.Manifest.Root)
	if n := c.new.Manifest.Server.Node; n != nil {
		p = at("", n.Pos, n)
	}
	if old.Name != new.Name {
		c.found("server-renamed", p, "the server is called %q, and was %q", new.Name, old.Name)
	}
	if old.Title != new.Title || old.Instructions != new.Instructions || old.Info != new.Info {
		c.found("server-described", p, "what the server says of itself reads otherwise")
	}
}

// entry is a prompt, resource, template, method or extension.
type entry struct {
	place
	node           *schema.Node
	listed         *manifest.Listed // of a prompt or resource; nil for methods
	shown          *schema.Node     // its definition in the list of prompts, resources or templates
	params, result *schema.Document
	backwards      bool   // the server sends the params and receives the result
	extension      string // of a request that the server sends: the extension that clients must declare
	subscribe      bool   // clients can subscribe to changes
}

func (e entry) name() string { return e.subject }

func (s Side) entries() (all []entry) {
	m := s.Manifest
	listed := func(l *manifest.Listed, shown *schema.Node, params *schema.Document, subscribe bool) {
		all = append(all, entry{place: at(l.Kind+" "+l.Name, l.Pos, l.Node), node: l.Node, listed: l, shown: shown, params: params, subscribe: subscribe})
	}
	for i := range m.Prompts {
		p := &m.Prompts[i]
		listed(&p.Listed, p.Advertised(), p.Schema, false)
	}
	for i := range m.Resources {
		r := &m.Resources[i]
		listed(&r.Listed, r.Advertised(), nil, r.Subscribe.Value)
	}
	for i := range m.ResourceTemplates {
		t := &m.ResourceTemplates[i]
		listed(&t.Listed, t.Advertised(), t.Schema, t.Subscribe.Value)
	}
	for _, t := range m.Methods {
		all = append(all, entry{place: at("method "+t.Value, t.Node.Pos, t.Node)})
	}
	for _, x := range m.CustomMethods {
		all = append(all, entry{place: at("method "+x.Name, x.Pos, x.Node), params: x.Params, result: x.Result, backwards: x.FromServer, extension: x.Extension.Value})
	}
	for _, t := range m.Extensions {
		all = append(all, entry{place: at("extension "+t.Value, t.Node.Pos, t.Node)})
	}
	return all
}

func (c *comparison) entries() {
	pairs(c.old.entries(), c.new.entries(), entry.name, c.entry,
		func(e entry) { c.found("entry-removed", e.place, "is gone").Gone = true },
		func(e entry) { c.found("entry-added", e.place, "is new") })
}

// entry compares an entry that both sides have. If one side has no params, the empty schema takes their place.
func (c *comparison) entry(old, new entry) {
	before, after := address(old.node), address(new.node)
	if before != after {
		c.found("entry-removed", new.place, "is at %s, and was at %s", after, before)
	}
	if old.backwards != new.backwards {
		c.found("entry-removed", new.place, "is sent by %s, and was sent by %s", sender(new), sender(old))
		return
	}
	if (old.result == nil) != (new.result == nil) { // only a method of the server: the name says of those of clients whether they are requests
		c.found("entry-removed", new.place, "is %s, and was %s: clients written for one do not handle the other", message(new), message(old))
		return
	}
	if old.extension != new.extension {
		c.found("client-needs-more", new.place, "asks clients that declare %s, and asked those that declare %s", new.extension, old.extension)
	}
	if old.params != nil || new.params != nil {
		c.direction(new, old.params, new.params, !new.backwards)
	}
	if old.result != nil {
		c.direction(new, old.result, new.result, new.backwards)
	}
	if old.listed != nil && new.listed != nil {
		c.limit(new.place, timeout("a request", old.listed.Timeout.Value, new.listed.Timeout.Value))
		c.questions(new.place, old.listed.Elicitations, new.listed.Elicitations)
		c.needs(new.place, old.listed.ClientCapabilities, new.listed.ClientCapabilities)
	}
	switch {
	case old.subscribe && !new.subscribe:
		c.found("subscription-removed", new.place, "can not be subscribed to any more")
	case new.subscribe && !old.subscribe:
		c.found("subscription-added", new.place, "can be subscribed to")
	}
	if before == after && differ(old.shown, new.shown) {
		c.found("entry-changed", new.place, "reads otherwise where it is listed")
	}
}

func sender(e entry) string {
	if e.backwards {
		return "the server"
	}
	return "clients"
}

// message says what a method of the server is to clients. Only requests have an extension: notifications go to all clients.
func message(e entry) string {
	if e.result == nil {
		return "a notification"
	}
	return "a request to clients that declare " + e.extension
}

// direction compares schemas of values that the server receives, or else sends.
func (c *comparison) direction(e entry, old, new *schema.Document, received bool) {
	if received {
		c.received(e.place, orNone(old), orNone(new))
		c.defaults(e.place, orNone(old), orNone(new))
	} else {
		c.sent(e.place, orNone(old), orNone(new))
	}
}

// orNone is d, or the empty schema if d is nil.
func orNone(d *schema.Document) *schema.Document {
	if d == nil {
		d, _ = schema.NewDocument(&schema.Node{Kind: schema.Object}, nil)
	}
	return d
}

// address is the URI or the URI template of a resource.
func address(n *schema.Node) string {
	for _, key := range []string{"uri", "uriTemplate"} {
		if v := n.Get(key); v != nil {
			return v.Text
		}
	}
	return ""
}
