package emit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// registryFile emits the tables of prompts, resources and templates. Each is one literal, so that a new entry is one hunk.
func registryFile(pkg *model.Package) ([]File, error) {
	if len(pkg.Entries) == 0 {
		return nil, nil
	}
	s := &source{}
	if len(pkg.Prompts) > 0 {
		registryTable(s, "prompts", "Prompt", "the prompts", pkg.Prompts, func(p *model.Prompt) []row { return s.promptEntry(pkg, p) })
	}
	if len(pkg.Resources) > 0 {
		registryTable(s, "resources", "Resource", "the resources", pkg.Resources, s.resourceEntry)
	}
	if len(pkg.Templates) > 0 {
		registryTable(s, "resourceTemplates", "ResourceTemplate", "the resources with variables in their addresses", pkg.Templates, func(r *model.Resource) []row { return s.templateEntry(pkg, r) })
	}
	return one("registry.gen.go", s.file(Header, pkg.Name), nil)
}

// // prompts are the prompts that h answers for, in the manifest's order. …
//
//	func prompts(h Handlers) []server.Prompt {
//		return []server.Prompt{
//			{…},
//		}
//	}
func registryTable[E any](s *source, name, typ, what string, entries []E, row func(E) []row) {
	s.line()
	s.comment(name + " are " + what + " that h answers for, in the manifest's order. A definition is what their list shows.")
	of := s.use(serverPath, typ)
	s.open("func ", name, "(h Handlers) []", of, " {")
	s.open("return []", of, "{")
	for _, e := range entries {
		s.open("{")
		s.fields(row(e))
		s.close("},")
	}
	s.close("}")
	s.close("}")
}

// Name: "review_code",
// Definition: `{"name":"review_code",…}`,
// Handler: server.BindPrompt(decodeReviewCodeArgs, h.ReviewCode),
// Arguments: []server.Argument{…},
func (s *source) promptEntry(pkg *model.Package, p *model.Prompt) []row {
	handler := s.use(serverPath, "PlainPrompt") + "(" + s.entryMethod(p.Handler) + ")"
	if p.Input.Name != "" {
		handler = s.use(serverPath, "BindPrompt") + "(" + s.function(pkg, p.Input.Decode) + ", " + s.entryMethod(p.Handler) + ")"
	}
	fields := []row{{"Name", strconv.Quote(p.Name)}, {"Definition", "`" + p.Definition + "`"}, {"Handler", handler}}
	fields = s.policyFields(fields, p.Handler)
	if len(p.Sensitive) > 0 {
		fields = append(fields, row{"Sensitive", quotedList(p.Sensitive)})
	}
	return s.argumentsField(fields, p.Arguments)
}

// Name: "readme",
// URI: "docs://readme",
// Definition: `{"name":"readme",…}`,
// Handler: h.ReadReadme,
func (s *source) resourceEntry(r *model.Resource) []row {
	fields := []row{{"Name", strconv.Quote(r.Name)}, {"URI", strconv.Quote(r.URI)}, {"Definition", "`" + r.Definition + "`"}}
	return append(s.resourceFields(fields, r), row{"Handler", s.entryMethod(r.Handler)})
}

// Name: "file",
// URITemplate: "files://{user}/{+path}",
// Definition: `{"name":"file",…}`,
// Handler: server.BindResource(decodeFileVariables, h.ReadFile),
// Arguments: []server.Argument{…},
func (s *source) templateEntry(pkg *model.Package, r *model.Resource) []row {
	fields := []row{{"Name", strconv.Quote(r.Name)}, {"URITemplate", strconv.Quote(r.URI)}, {"Definition", "`" + r.Definition + "`"}}
	fields = s.resourceFields(fields, r)
	if len(r.Raw) > 0 {
		fields = append(fields, row{"Raw", quotedList(r.Raw)})
	}
	fields = append(fields, row{"Handler", s.use(serverPath, "BindResource") + "(" + s.function(pkg, r.Input.Decode) + ", " + s.entryMethod(r.Handler) + ")"})
	return s.argumentsField(fields, r.Arguments)
}

func (s *source) resourceFields(fields []row, r *model.Resource) []row {
	if r.MIMEType != "" {
		fields = append(fields, row{"MIMEType", strconv.Quote(r.MIMEType)})
	}
	if r.Subscribe {
		fields = append(fields, row{"Subscribe", "true"})
	}
	return s.policyFields(fields, r.Handler)
}

// Policy: server.EntryPolicy{Timeout: 5 * time.Second, MustAsk: true},
func (s *source) policyFields(fields []row, h *model.EntryHandler) []row {
	policy := s.durations(duration{"Timeout", h.Timeout})
	if mustAsk(&h.Asker) {
		policy = append(policy, "MustAsk: true")
	}
	if h.ClientCapabilities != nil {
		policy = append(policy, "ClientCapabilities: "+quotedList(h.ClientCapabilities))
	}
	if policy == nil {
		return fields
	}
	return append(fields, row{"Policy", s.use(serverPath, "EntryPolicy") + "{" + strings.Join(policy, ", ") + "}"})
}

// entryMethod is h.ReviewCode, or for a handler with questions a function that gives the call its questions:
//
//	func(ctx context.Context, call *server.Call, in *ReviewCodeArgs) (*server.PromptResult, error) {
//		return h.ReviewCode(ctx, &ReviewCodeCall{call}, in)
//	}
func (s *source) entryMethod(h *model.EntryHandler) string {
	if h.Call == "" {
		return "h." + h.GoName
	}
	param, in := "", ""
	if h.Input != "" {
		param, in = ", in *"+s.named(h.Input), ", in"
	}
	return "func(ctx " + s.use("context", "Context") + ", call *" + s.use(serverPath, "Call") + param + ") (*" + s.named(h.Output) + ", error) {\n" +
		"\treturn h." + h.GoName + "(ctx, &" + h.Call + "{call}" + in + ")\n}"
}

// Arguments: []server.Argument{{Name: "language", Values: []string{"go", "rust"}}, {Name: "path", Complete: h.CompleteReviewCodePath}},
func (s *source) argumentsField(fields []row, args []model.Argument) []row {
	var all []string
	for _, a := range args {
		by := "Values: " + quotedList(a.Values)
		if a.Complete != nil {
			by = "Complete: h." + a.Complete.GoName
		}
		all = append(all, "{Name: "+strconv.Quote(a.Name)+", "+by+"}")
	}
	if all == nil {
		return fields
	}
	return append(fields, row{"Arguments", "[]" + s.use(serverPath, "Argument") + "{" + strings.Join(all, ", ") + "}"})
}

func quotedList(list []string) string {
	all := slices.Clone(list)
	for i := range all {
		all[i] = strconv.Quote(all[i])
	}
	return "[]string{" + strings.Join(all, ", ") + "}"
}

// ReviewCode(ctx context.Context, call *server.Call, in *ReviewCodeArgs) (*server.PromptResult, error)
func (s *source) entrySignature(h *model.EntryHandler) string {
	in := ""
	if h.Input != "" {
		in = ", in *" + s.named(h.Input)
	}
	call := cmp.Or(h.Call, "server.Call")
	return h.GoName + "(ctx " + s.use("context", "Context") + ", call *" + s.named(call) + in + ") (*" + s.named(h.Output) + ", error)"
}

// named is a type as generated code writes it. One that begins with "server." is imported, others are of the package itself.
func (s *source) named(typ string) string {
	if name, ok := strings.CutPrefix(typ, "server."); ok {
		return s.use(serverPath, name)
	}
	return typ
}
