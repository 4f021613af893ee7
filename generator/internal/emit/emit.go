package emit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// File is one file of the generated package.
type File struct {
	Name    string
	Content []byte
}

// Package returns every Go file of pkg, sorted by name. Files are made at once, one goroutine for each maker, all of which
// have returned when it does. An error means that what was emitted is not Go, a defect of this package, or that ctx ended.
func Package(ctx context.Context, pkg *model.Package) ([]File, error) {
	makers := []func(*model.Package) ([]File, error){
		docFile, typesFile, validateFile, handlersFile, methodsFile, questionsFile, toolsFile, cancelFile, tasksFile, wireFiles,
	}
	made := make([][]File, len(makers))
	errs := make([]error, len(makers))
	var wg sync.WaitGroup
	for i, maker := range makers {
		wg.Go(func() {
			if ctx.Err() == nil {
				made[i], errs[i] = maker(pkg)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	files := slices.Concat(made...)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return files, errors.Join(errs...)
}

// one wraps a file that is always generated.
func one(name string, content []byte, err error) ([]File, error) {
	if err != nil {
		return nil, err
	}
	return []File{{name, content}}, nil
}

func typesFile(pkg *model.Package) ([]File, error) {
	return one("types.gen.go", TypesFile(header(pkg), pkg.Name, pkg.Decls), nil)
}

func validateFile(pkg *model.Package) ([]File, error) {
	return one("validate.gen.go", ValidateFile(header(pkg), pkg.Name, slices.Concat(pkg.Decls, pkg.Views)), nil)
}
