package emit

import (
	"cmp"
	"context"
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// File is one file of the generated package.
type File struct {
	Name    string
	Content []byte
}

// Package returns every Go file of pkg, sorted by name. An error means that what was emitted is not Go: a defect of this
// package, or ctx ended.
func Package(ctx context.Context, pkg *model.Package) ([]File, error) {
	var files []File
	for _, make := range []func(*model.Package) ([]File, error){
		docFile, typeFiles, handlersFile, questionsFile, toolsFile, cancelFile, tasksFile, wireFiles,
	} {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		made, err := make(pkg)
		if err != nil {
			return nil, err
		}
		files = append(files, made...)
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return files, nil
}

// one wraps a file that is always generated.
func one(name string, content []byte, err error) ([]File, error) {
	if err != nil {
		return nil, err
	}
	return []File{{name, content}}, nil
}

func typeFiles(pkg *model.Package) ([]File, error) {
	h := header(pkg)
	return []File{
		{"types.gen.go", TypesFile(h, pkg.Name, pkg.Decls)},
		{"validate.gen.go", ValidateFile(h, pkg.Name, pkg.Decls)},
	}, nil
}
