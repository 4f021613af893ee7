package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator"
)

// manifestPaths returns the manifests that args name: files, and DIR/... for all below DIR; without args the one in this directory.
func manifestPaths(args []string) (all []string, err error) {
	if len(args) == 0 {
		path, err := manifestPath(nil)
		return []string{path}, err
	}
	for _, arg := range args {
		dir, below := strings.CutSuffix(filepath.ToSlash(arg), "...")
		if !below || dir != "" && !strings.HasSuffix(dir, "/") {
			all = append(all, arg)
			continue
		}
		found, err := manifestsBelow(filepath.FromSlash(dir))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: there is no manifest: no %s, and no %s that names one", arg, manifestNames[0], generator.LockName)
		}
		all = append(all, found...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(path string) bool {
		again := seen[filepath.Clean(path)]
		seen[filepath.Clean(path)] = true
		return again
	}), nil
}

// manifestsBelow finds manifests by their names, and those with other names by the lock files that name them. Like the go command it skips names
// that begin with . or _, testdata and vendor, and also node_modules.
func manifestsBelow(dir string) (all []string, err error) {
	dir = filepath.Join(dir, ".")
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && path != dir && (name[0] == '.' || name[0] == '_' || slices.Contains([]string{"testdata", "vendor", "node_modules"}, name)):
			return fs.SkipDir
		case slices.Contains(manifestNames, name):
			all = append(all, path)
		case name == generator.LockName:
			if manifest := generator.ManifestOf(filepath.Dir(path)); manifest != "" {
				all = append(all, manifest)
			}
		}
		return nil
	})
	slices.Sort(all)
	return slices.Compact(all), err
}
