package server

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/uritemplate"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
	"github.com/mcpkiln/mcpkiln/runtime/wire/edit"
)

// Resource is one resource of the registry.
type Resource struct {
	Name, URI string
	// Definition is the advertised JSON object, as the newest revision has it.
	Definition string
	// MIMEType is the type of contents that state none, "" for none.
	MIMEType string
	// Subscribe says that clients can subscribe to it.
	Subscribe bool
	Policy    EntryPolicy
	Handler   func(ctx context.Context, call *Call) (*ResourceContents, error)
}

// ResourceTemplate describes the resources whose URIs match the template.
type ResourceTemplate struct {
	Name, URITemplate, Definition, MIMEType string // as in Resource
	Subscribe                               bool
	Policy                                  EntryPolicy
	// Raw are the variables whose text is JSON: numbers and booleans.
	Raw     []string
	Handler TemplateHandler
	// Arguments are the variables for which completion/complete has suggestions.
	Arguments []Argument

	template *uritemplate.Template
}

// TemplateHandler reads a resource of a template. BindResource makes one.
type TemplateHandler struct {
	read func(d *check.Decoder) any
	get  func(ctx context.Context, call *Call, in any) (*ResourceContents, error)
}

// BindResource joins a handler with the decoder of its variables. Variables that decode refuses are answered with -32602 and every
// violation, and never reach fn. Errors of fn are answered as those of BindMethod are; *ResourceError says that there is no such
// resource.
func BindResource[In any](decode func(d *check.Decoder, in *In), fn func(ctx context.Context, call *Call, in *In) (*ResourceContents, error)) TemplateHandler {
	return TemplateHandler{
		read: anyReader(decode),
		get: func(ctx context.Context, call *Call, in any) (*ResourceContents, error) {
			return fn(ctx, call, in.(*In))
		},
	}
}

// ResourceContents is the content of a resource. TextContents and BlobContents make it of one part, which is all that most have.
type ResourceContents struct{ Parts []ResourcePart }

// ResourcePart is a text, or bytes where Blob or BlobFrom is not nil.
type ResourcePart struct {
	URI      string // "": the one that is read; a folder has parts with URIs of their own
	MIMEType string // "": that of the definition
	Text     string
	Blob     []byte // kept until it is sent: it must not change
	// TextFrom and BlobFrom open data that is too large to be held in memory, in place of Text and Blob.
	TextFrom, BlobFrom Opener
}

// TextContents is a text.
func TextContents(text string) *ResourceContents {
	return &ResourceContents{[]ResourcePart{{Text: text}}}
}

// BlobContents are bytes, which must not change afterwards.
func BlobContents(data []byte) *ResourceContents {
	if data == nil {
		data = []byte{}
	}
	return &ResourceContents{[]ResourcePart{{Blob: data}}}
}

// MIMEType sets the type of all parts that state none, and returns c.
func (c *ResourceContents) MIMEType(mimeType string) *ResourceContents {
	for i := range c.Parts {
		c.Parts[i].MIMEType = cmp.Or(c.Parts[i].MIMEType, mimeType)
	}
	return c
}

func (r *request) listResources(b []byte) ([]byte, error) {
	s, rev := r.p.s, r.revision
	if place, ok := placeIn(r.params.Cursor, treeCursor); ok {
		return r.listTrees(b, place)
	}
	const kind = "resources"
	after, ok := numberIn(&r.params, kind)
	if !ok {
		return nil, errCursor
	}
	t, more := s.resources.table.Load(), ""
	if len(s.cfg.trees) > 0 {
		if more = cursorOf(treeCursor, firstFile); len(t.entries) == 0 {
			return r.listTrees(b, firstFile)
		}
	}
	shown := r.shown(s.cfg.resourceFilter)
	return append(b, t.list(rev, after, &listing[Resource]{
		kind: kind, size: s.cfg.pageSize, onward: more, perCaller: shown != nil,
		appendEntry: func(b []byte, of *Resource) []byte {
			if shown != nil && !shown(of.URI) {
				return b
			}
			return edit.AppendOmitting(nextItem(b), of.Definition, rev.View.ResourceOmits)
		},
		wrap: func(items []byte, next string) []byte {
			return rev.AppendResourceList(nil, s.itemList(rev, items, next, shown != nil))
		},
	})...), nil
}

func (r *request) listTemplates(b []byte) ([]byte, error) {
	s, rev := r.p.s, r.revision
	const kind = "templates"
	after, ok := numberIn(&r.params, kind)
	if !ok {
		return nil, errCursor
	}
	shown := r.shown(s.cfg.resourceFilter)
	return append(b, s.templates.table.Load().list(rev, after, &listing[ResourceTemplate]{
		kind: kind, size: s.cfg.pageSize, perCaller: shown != nil,
		appendEntry: func(b []byte, of *ResourceTemplate) []byte {
			if shown != nil && !shown(of.URITemplate) {
				return b
			}
			return edit.AppendOmitting(nextItem(b), of.Definition, rev.View.TemplateOmits)
		},
		wrap: func(items []byte, next string) []byte {
			return rev.AppendTemplateList(nil, s.itemList(rev, items, next, shown != nil))
		},
	})...), nil
}

// source is where a URI is read from.
type source struct {
	mime      string
	subscribe bool
	read      func(ctx context.Context, call *Call) (*ResourceContents, error)
	answers   *answerSizes
	check     func(limits check.Limits) error // says which values of the URI's variables are wrong; nil: it has none
}

// source finds the resource, the template or the tree of a URI, in this order; nil for none.
func (r *request) source(uri string) *source {
	s := r.p.s
	if !r.shows(s.cfg.resourceFilter, uri) {
		return nil
	}
	if e := s.resources.table.Load().named[uri]; e != nil {
		return &source{mime: e.value.MIMEType, subscribe: e.value.Subscribe, read: e.value.Handler, answers: &e.answers}
	}
	for _, e := range s.templates.table.Load().entries {
		t := e.value
		values, ok := t.template.Match(uri)
		if !ok {
			continue
		}
		read := func(ctx context.Context, call *Call) (*ResourceContents, error) {
			in, err := r.readEntry("", t.variables(values), "", t.Handler.read)
			if err != nil {
				return nil, err
			}
			return t.Handler.get(ctx, call, in)
		}
		wrong := func(limits check.Limits) error {
			return check.Decode(t.variables(values), limits, func(d *check.Decoder, _ *struct{}) { t.Handler.read(d) }, new(struct{}))
		}
		return &source{t.MIMEType, t.Subscribe, read, &e.answers, wrong}
	}
	for _, t := range s.cfg.trees {
		if name, ok := t.nameOf(uri); ok {
			read := func(context.Context, *Call) (*ResourceContents, error) { return t.read(uri, name) }
			return &source{subscribe: true, read: read, answers: &s.treeSizes}
		}
	}
	return nil
}

// variables are the values of a URI as a JSON object, for the decoder of the handler's input.
func (t *ResourceTemplate) variables(values [][]string) []byte {
	b := []byte{'{'}
	for i, v := range t.template.Variables() {
		if values[i] == nil {
			continue
		}
		one := func(b []byte, text string) []byte {
			if slices.Contains(t.Raw, v.Name) && check.Valid([]byte(text), check.Limits{}) == nil {
				return append(b, text...)
			}
			return check.AppendString(b, text)
		}
		b = check.Member(b, string(check.AppendString(nil, v.Name))+":")
		if v.List {
			b = check.AppendSlice(b, values[i], one)
		} else {
			b = one(b, values[i][0])
		}
	}
	return append(b, '}')
}

func (r *request) readResource(b []byte) ([]byte, error) {
	uri := r.params.URI
	of := r.source(uri)
	if of == nil {
		return r.withCall(b, func(b []byte, _ *Call) ([]byte, error) { return b, &ResourceError{URI: uri} })
	}
	return r.serveEntry(b, of.answers, func(ctx context.Context, call *Call) (write, error) {
		out, err := of.read(ctx, call)
		r.noteContents(out)
		if err = call.returned(err); err != nil {
			return nil, err
		}
		r.reservation.returned(out.size())
		return func(b []byte) ([]byte, error) { return r.appendContents(b, out, of.mime) }, nil
	})
}

func (r *request) noteContents(out *ResourceContents) {
	if out == nil {
		return
	}
	for i := range out.Parts {
		r.noteReader(out.Parts[i].TextFrom)
		r.noteReader(out.Parts[i].BlobFrom)
	}
}

// size is roughly how many bytes the contents take in an answer, at least.
func (c *ResourceContents) size() (n int) {
	if c == nil {
		return 0
	}
	for i := range c.Parts {
		n += len(c.Parts[i].Text) + base64.StdEncoding.EncodedLen(len(c.Parts[i].Blob))
	}
	return n
}

func (r *request) appendContents(b []byte, out *ResourceContents, mime string) ([]byte, error) {
	if out == nil {
		return b, &outputError{errNoOutput}
	}
	rev, contents := r.revision, []byte{'['}
	for i := range out.Parts {
		part := out.Parts[i].block(r.params.URI, mime)
		if err := part.check(); err != nil {
			return b, &outputError{fmt.Errorf("part %d of the resource: %w", i, err)}
		}
		contents = part.appendResource(nextItem(contents), rev, &r.placeholders)
	}
	ttl, scope := r.cacheHint()
	result := wire.ResourceResult{Contents: append(contents, ']'), CacheTTL: wire.MillisOf(ttl), CacheScope: scope, ServerInfo: rev.resultInfo}
	return rev.AppendResourceResult(r.p.s.large.grow(b, len(contents)), &result), nil
}

func (p *ResourcePart) block(uri, mime string) Block {
	uri, mime = cmp.Or(p.URI, uri), cmp.Or(p.MIMEType, mime)
	switch {
	case p.BlobFrom != nil:
		return BlobResourceFrom(uri, mime, p.BlobFrom)
	case p.Blob != nil:
		return BlobResource(uri, mime, p.Blob)
	case p.TextFrom != nil:
		return TextResourceFrom(uri, mime, p.TextFrom)
	}
	return TextResource(uri, mime, p.Text)
}

// subscribeRegistered subscribes to a resource of the registries, or unsubscribes.
func (r *request) subscribeRegistered(b []byte) ([]byte, error) {
	on := r.method.Op == wire.OpSubscribe
	if on {
		if err := r.mayWatch(r.params.URI); err != nil {
			return b, err
		}
	}
	if err := r.subscribe(on); err != nil {
		return b, err
	}
	start := len(b)
	return r.complete(append(b, "{}"...), start)
}

// mayWatch refuses unknown URIs, those that can not be subscribed to, and those that can not be read because a variable breaks its rule (LET06).
func (r *request) mayWatch(uri string) error {
	switch of := r.source(uri); {
	case of == nil:
		unknown := &ResourceError{URI: uri}
		f := &fault{kind: noResource}
		f.own.Message, f.own.Data = unknown.Error(), append(check.AppendString([]byte(`{"uri":`), uri), '}')
		_, err := r.revision.answer(f, r.can)
		return err
	case !of.subscribe:
		return refusedParam(atURI, "the resource %s can not be subscribed to", rpc.Quoted(uri))
	case of.check != nil:
		if err := of.check(r.p.s.cfg.limits); err != nil {
			return invalidParams(r.method.Name, err)
		}
	}
	return nil
}

// check returns what is wrong with a block of a prompt or the part of a resource, nil for nothing.
func (b *Block) check() error {
	if b.kind == noBlock {
		return errors.New("it is the zero Block: use Text, Image and so on")
	}
	return b.err
}
