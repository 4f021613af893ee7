package emit

import (
	"cmp"
	"context"
	"errors"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// File is one file of the generated package.
type File struct {
	Name    string
	Content []byte
}

// Package returns every Go file of pkg and its parts, sorted by name, without those of its client. Files are made concurrently, by the caller and as
// many goroutines as there are other processors, all of which have ended when it returns. An error means that the emitted code is not Go, a defect of
// this package, or that ctx ended.
func Package(ctx context.Context, pkg *model.Package) ([]File, error) { return run(ctx, jobs(pkg)) }

// Client is Package for a client, with the types that it shares with a server.
func Client(ctx context.Context, pkg *model.Package) ([]File, error) {
	return run(ctx, clientJobs(pkg))
}

func run(ctx context.Context, jobs []job) ([]File, error) {
	made := make([][]File, len(jobs))
	errs := make([]error, len(jobs))
	var next atomic.Int64
	work := func() {
		for i := next.Add(1) - 1; i < int64(len(jobs)) && ctx.Err() == nil; i = next.Add(1) - 1 {
			made[i], errs[i] = jobs[i].files()
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	files := slices.Concat(made...)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return files, errors.Join(errs...)
}

// maker makes one file of a package, or a few, or none.
type maker func(*model.Package) ([]File, error)

// job is a maker and the package that it works for.
type job struct {
	make maker
	pkg  *model.Package
}

func (j job) files() ([]File, error) {
	files, err := j.make(j.pkg)
	for i := range files {
		files[i].Name = path.Join(j.pkg.Dir, files[i].Name)
	}
	return files, err
}

// jobList collects jobs.
type jobList []job

func (l *jobList) add(pkg *model.Package, makers ...maker) {
	for _, m := range makers {
		*l = append(*l, job{m, pkg})
	}
}

func jobs(pkg *model.Package) []job {
	var all jobList
	all.add(pkg, docFile, handlersFile, methodsFile, registryFile, wireFiles)
	switch {
	case pkg.Client != nil:
		all.add(pkg, aliasesFile, questionsFile, toolsFile)
	case pkg.Parts == nil:
		all.add(pkg, typesFile, validateFile, questionsFile, toolsFile)
	default:
		all.add(pkg, aliasesFile, orderFile, usesFile, questionsFile)
		all.add(pkg.Shared, partDocFile, typesFile, validateFile, lendsFile)
	}
	for _, part := range pkg.Parts {
		all.add(part, partDocFile, typesFile, validateFile, usesFile, partHandlersFile, questionsFile, toolsFile)
	}
	return all
}

func clientJobs(pkg *model.Package) []job {
	var all jobList
	all.add(pkg, clientDocFile, clientFile, clientTypesFile)
	all.add(pkg.Shared, schemaDocFile, typesFile, validateFile)
	return all
}

// one wraps a file that is always generated.
func one(name string, content []byte, err error) ([]File, error) {
	if err != nil {
		return nil, err
	}
	return []File{{name, content}}, nil
}

func typesFile(pkg *model.Package) ([]File, error) {
	return one("types.gen.go", TypesFile(Header, pkg.Name, pkg.Decls), nil)
}

func validateFile(pkg *model.Package) ([]File, error) {
	return one("validate.gen.go", ValidateFile(Header, pkg.Name, slices.Concat(pkg.Decls, pkg.Views)), nil)
}
