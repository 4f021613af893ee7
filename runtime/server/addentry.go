package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/uritemplate"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// AddPrompt adds a prompt that was not known when the package was generated, at the end of the list. definition is the JSON object that prompts/list
// shows, in the form of the newest revision. Its arguments may have enum, pattern, format, minLength, maxLength and x-sensitive of JSON Schema, which
// lists do not show; other keywords, which nothing would enforce, are refused. Arguments that are invalid, unknown or missing are refused before fn
// runs. complete says how arguments without an enum are completed. fn may ask the user with Ask where the package has questions. Clients are told
// that the list has changed. Errors: *ExistsError for a name that exists already, others for an invalid definition.
func (s *Server) AddPrompt(definition []byte, fn func(ctx context.Context, call *Call, args map[string]string) (*PromptResult, error), complete ...Argument) error {
	if err := s.needsRegistry(wire.OpGetPrompt, "prompts"); err != nil {
		return err
	}
	if err := promptShape.check(definition, s.ownMeta()); err != nil {
		return err
	}
	name := member(definition, "name")
	if fn == nil {
		return fmt.Errorf("server: prompt %q has no handler", name)
	}
	shown, args, err := readArguments(definition)
	if err != nil {
		return fmt.Errorf("server: prompt %q: %w", name, err)
	}
	for _, c := range complete {
		if !slices.Contains(args.object.Names, c.Name) {
			return fmt.Errorf("server: prompt %q has no argument %q to complete", name, c.Name)
		}
	}
	p := Prompt{Name: name, Definition: string(shown), Arguments: append(complete, args.values...), Sensitive: args.sensitive, arguments: args.object.Names, Handler: PromptHandler{
		read: func(d *check.Decoder) any { return args.read(d) },
		get: func(ctx context.Context, call *Call, in any) (*PromptResult, error) {
			return fn(ctx, call, in.(map[string]string))
		},
	}}
	if err := s.prompts.add(p.Name, &p, nil); err != nil {
		return err
	}
	s.PromptsChanged()
	return nil
}

// RemovePrompt removes a prompt, generated or added, and reports whether there was one.
func (s *Server) RemovePrompt(name string) bool {
	removed := s.prompts.remove(name) != nil
	if removed {
		s.PromptsChanged()
	}
	return removed
}

// AddResource adds a resource at the end of the list. definition is the JSON object that resources/list shows, in the form of the newest revision:
// with a uri and a name. Clients can subscribe to it. They are told that the list has changed. Errors: *ExistsError for a URI that exists already,
// others for an invalid definition.
func (s *Server) AddResource(definition []byte, fn func(ctx context.Context, call *Call) (*ResourceContents, error)) error {
	if err := s.needsRegistry(wire.OpReadResource, "resources"); err != nil {
		return err
	}
	if err := resourceShape.check(definition, s.ownMeta()); err != nil {
		return err
	}
	of := Resource{Name: member(definition, "name"), URI: member(definition, "uri"), Definition: string(definition),
		MIMEType: member(definition, "mimeType"), Subscribe: true, Handler: fn}
	if fn == nil {
		return fmt.Errorf("server: resource %q has no handler", of.Name)
	}
	if err := s.resources.add(of.URI, &of, nil); err != nil {
		return err
	}
	s.ResourcesChanged()
	return nil
}

// RemoveResource removes the resource with a URI, generated or added, and reports whether there was one.
func (s *Server) RemoveResource(uri string) bool {
	removed := s.resources.remove(uri) != nil
	if removed {
		s.ResourcesChanged()
	}
	return removed
}

// AddResourceTemplate adds resources whose URIs have variables, as AddResource does. fn gets the values of each variable by its name, none for one
// that the URI's query leaves out. complete says how variables are completed. A template is refused if some URI matches it and another one.
func (s *Server) AddResourceTemplate(definition []byte, fn func(ctx context.Context, call *Call, values map[string][]string) (*ResourceContents, error), complete ...Argument) error {
	if err := s.needsRegistry(wire.OpReadResource, "resources"); err != nil {
		return err
	}
	if err := templateShape.check(definition, s.ownMeta()); err != nil {
		return err
	}
	of := ResourceTemplate{Name: member(definition, "name"), URITemplate: member(definition, "uriTemplate"), Definition: string(definition),
		MIMEType: member(definition, "mimeType"), Subscribe: true, Arguments: complete}
	if fn == nil {
		return fmt.Errorf("server: resource template %q has no handler", of.Name)
	}
	if err := of.prepare(); err != nil {
		return err
	}
	of.Handler = TemplateHandler{
		read: func(d *check.Decoder) any { return d.Raw(nil) },
		get: func(ctx context.Context, call *Call, in any) (*ResourceContents, error) {
			return fn(ctx, call, of.valuesIn(in.(check.Raw)))
		},
	}
	if err := s.templates.add(of.URITemplate, &of, of.refuseOverlap); err != nil {
		return err
	}
	s.ResourcesChanged()
	return nil
}

// RemoveResourceTemplate removes a template, generated or added, and reports whether there was one.
func (s *Server) RemoveResourceTemplate(uriTemplate string) bool {
	removed := s.templates.remove(uriTemplate) != nil
	if removed {
		s.ResourcesChanged()
	}
	return removed
}

// refuseOverlap refuses a template if some URI matches it and another one: the order of the two would decide which one reads the resource.
func (t *ResourceTemplate) refuseOverlap(others []*entry[ResourceTemplate]) error {
	for _, o := range others {
		if uri, overlap := uritemplate.Overlap(o.value.template, t.template); overlap {
			return fmt.Errorf("server: the resource templates %q and %q both match %s", o.value.URITemplate, t.URITemplate, uri)
		}
	}
	return nil
}

// valuesIn returns the variables' values in object, the JSON that matching a URI produced.
func (t *ResourceTemplate) valuesIn(object []byte) map[string][]string {
	var raw map[string]any
	_ = json.Unmarshal(object, &raw) // we wrote it
	all := map[string][]string{}
	for name, value := range raw {
		switch v := value.(type) {
		case string:
			all[name] = []string{v}
		case []any:
			for _, item := range v {
				text, _ := item.(string)
				all[name] = append(all[name], text)
			}
		}
	}
	return all
}

func (s *Server) needsRegistry(op wire.Op, key string) error {
	if s.serves(func(rev *revision) bool { return rev.methodOf(op) != nil }) {
		return nil
	}
	return fmt.Errorf("server: the package was generated without a registry of %[1]s: write %[1]s: {} in the manifest, and generate again", key)
}
