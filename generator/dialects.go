package generator

import (
	"fmt"
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/emit"
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/wire"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Dialects generates the files of package pkg with a table of each revision for clients. They are part of runtime/client.
func Dialects(pkg string) ([]File, error) {
	names := revision.Names()
	slices.Sort(names)
	var all []*model.Dialect
	for _, name := range slices.Backward(names) {
		rev, ds := revision.Load(name)
		if ds.HasErrors() {
			return nil, fmt.Errorf("generator: %w", ds)
		}
		all = append(all, wire.Dialect(rev))
	}
	made, err := emit.Dialects(pkg, all)
	if err != nil {
		return nil, fmt.Errorf("generator: %w", err)
	}
	var files []File
	for _, f := range made {
		files = append(files, File{f.Name, f.Content})
	}
	return files, nil
}
