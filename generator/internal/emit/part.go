package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// partDocFile emits the doc of a part or of the shared package.
//
//	// Package part03 holds some of the tools of the package that it is internal to. …
//	package part03
func partDocFile(pkg *model.Package) ([]File, error) {
	holds := "some of the tools"
	if len(pkg.Tools) == 0 {
		holds = "what several tools use"
	}
	doc := commentLines("Package " + pkg.Name + " holds " + holds + " of the package that it is internal to. Use that one: it has names for all types in here.")
	return one("doc.gen.go", []byte(Header+"\n\n"+strings.Join(doc, "\n")+"\npackage "+pkg.Name+"\n"), nil)
}

// partHandlersFile emits the interface that the tools of a part call. It is a named type: the name of an anonymous one in the binary is the
// list of its methods, and is there once for each method.
//
//	// Handlers is what the tools in here call.
//	type Handlers interface {
//		GetQuote(ctx context.Context, call *server.Call, in *GetQuoteInput) (*GetQuoteOutput, error)
//	}
func partHandlersFile(pkg *model.Package) ([]File, error) {
	s := &source{}
	s.line()
	s.comment("Handlers is what the tools in here call.")
	s.open("type Handlers interface {")
	for _, t := range pkg.Tools {
		s.line(s.signature(pkg, t))
	}
	s.close("}")
	return one("handlers.gen.go", s.file(Header, pkg.Name), nil)
}

// orderFile emits the tools of all parts in the manifest's order.
//
//	// order is that of the tools in the manifest.
//	var order = []string{
//		"get_quote",
//	}
//
//	// tools are the tools that h answers, in order.
//	func tools(h Handlers) []server.Tool {
//		made := make(map[string]server.Tool, len(order))
//		for _, part := range [][]server.Tool{
//			part03.Tools(h),
//		} {
//			for _, t := range part {
//				made[t.Name] = t
//			}
//		}
//		all := make([]server.Tool, len(order))
//		for i, name := range order {
//			all[i] = made[name]
//		}
//		return all
//	}
func orderFile(pkg *model.Package) ([]File, error) {
	s := &source{}
	s.line()
	s.comment("order is that of the tools in the manifest.")
	s.open("var order = []string{")
	for _, t := range pkg.Tools {
		s.line(strconv.Quote(t.Name), ",")
	}
	s.close("}")
	s.line()
	s.comment("tools are the tools that h answers, in order.")
	s.open("func tools(h Handlers) []", s.use(serverPath, "Tool"), " {")
	s.line("made := make(map[string]server.Tool, len(order))")
	s.open("for _, part := range [][]server.Tool{")
	for _, part := range pkg.Parts {
		s.line(s.use(part.Path, "Tools"), "(h),")
	}
	s.close("} {")
	s.depth++
	s.open("for _, t := range part {")
	s.line("made[t.Name] = t")
	s.close("}")
	s.close("}")
	s.line("all := make([]server.Tool, len(order))")
	s.open("for i, name := range order {")
	s.line("all[i] = made[name]")
	s.close("}")
	s.line("return all")
	s.close("}")
	return one("tools.gen.go", s.file(Header, pkg.Name), nil)
}

// aliasesFile emits the aliases of the generated package for the types that its parts declare.
func aliasesFile(pkg *model.Package) ([]File, error) {
	s := &source{}
	for _, part := range append(slices.Clip(pkg.Parts), pkg.Shared) {
		for _, d := range part.Decls {
			s.aliasFrom(part, d)
		}
		for _, t := range part.Tools {
			if t.Call != "" {
				s.line()
				s.callDoc(&t.Asker)
				s.line("type ", t.Call, " = ", s.use(part.Path, t.Call))
			}
		}
	}
	return one("types.gen.go", s.file(Header, pkg.Name), nil)
}

// aliasFrom writes an alias for a type of another package, part. For a declaration without a type of its own it writes nothing.
func (s *source) aliasFrom(part *model.Package, d *model.Decl) {
	if d.Name == "" || d.Same != nil && !d.Renamed() {
		return
	}
	s.line()
	s.alias(part.Path, d)
}

// usesFile emits aliases and wrappers for the declarations of the shared package that a package uses.
//
//	// BatchID is what a batch is known by.
//	type BatchID = shared.BatchID
//
//	func decodeBatchID(d *check.Decoder, v *BatchID) {
//		shared.DecodeBatchID(d, v)
//	}
func usesFile(pkg *model.Package) ([]File, error) {
	s := &source{}
	for _, loan := range pkg.Uses {
		d := loan.Decl
		if pkg.Parts == nil {
			s.aliasFrom(pkg.Shared, d)
		}
		if loan.Use&model.Table != 0 {
			s.ruleTables(d)
		}
		s.wrappers(loan, forward{name: d.Decode, path: pkg.Shared.Path, to: d.LentDecode}, forward{name: d.Append, path: pkg.Shared.Path, to: d.LentAppend})
	}
	return s.fileUnlessEmpty("shared.gen.go", pkg)
}

// lendsFile emits the exported functions of the shared package, which call the unexported ones, for the packages that use these.
//
//	// DecodeBatchID is for the packages beside this one.
//	func DecodeBatchID(d *check.Decoder, v *BatchID) {
//		decodeBatchID(d, v)
//	}
func lendsFile(pkg *model.Package) ([]File, error) {
	s := &source{}
	for _, loan := range pkg.Lends {
		d := loan.Decl
		s.wrappers(loan,
			forward{name: d.LentDecode, to: d.Decode, doc: " is for the packages beside this one."},
			forward{name: d.LentAppend, to: d.Append, doc: " likewise."})
	}
	return s.fileUnlessEmpty("lends.gen.go", pkg)
}

// forward is a wrapper: a function that only calls the function to, of the package at path if that is not empty. doc is the rest of its comment.
type forward struct{ name, path, to, doc string }

// wrappers writes the wrappers for a loan, a declaration that the shared package lends.
func (s *source) wrappers(loan model.Reference, decode, appendTo forward) {
	if loan.Use&model.Decode != 0 {
		s.forward(loan.Decl, decode, "d *"+s.runtime("Decoder"), "", "")
	}
	if loan.Use&model.Encode != 0 {
		s.forward(loan.Decl, appendTo, "b []byte", " []byte", "return ")
	}
}

func (s *source) forward(d *model.Decl, f forward, first, result, prefix string) {
	params, args := first, first[:1]
	if _, typ, ok := strings.Cut(s.parameter(d), " "); ok {
		params, args = params+", v "+typ, args+", v"
	}
	if f.path != "" {
		f.to = s.use(f.path, f.to)
	}
	s.line()
	if f.doc != "" {
		s.comment(f.name + f.doc)
	}
	s.open("func ", f.name, "(", params, ")", result, " {")
	s.line(prefix, f.to, "(", args, ")")
	s.close("}")
}

// fileUnlessEmpty returns the file, or none if nothing was written.
func (s *source) fileUnlessEmpty(name string, pkg *model.Package) ([]File, error) {
	if len(s.b) == 0 {
		return nil, nil
	}
	return one(name, s.file(Header, pkg.Name), nil)
}
