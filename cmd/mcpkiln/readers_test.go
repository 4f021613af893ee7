package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// saysForWhom finds who is meant to read a package.
var saysForWhom = regexp.MustCompile(`\bfor (those|tests|programs|package|the (commands?|packages|tests))\b|readers are`)

// TestPackagesSayWhoReadsThem: the first lines of a package's doc tell a newcomer whether to read on.
func TestPackagesSayWhoReadsThem(t *testing.T) {
	docs := map[string]string{} // by directory, "" where there is none
	for _, top := range []string{"cmd", "generator", "runtime", "schema", "templates"} {
		err := filepath.WalkDir("../../"+top, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && slices.Contains([]string{"testdata", "examples"}, e.Name()):
				return filepath.SkipDir
			case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				return err
			}
			if f.Name.Name != "main" {
				docs[filepath.Dir(name)] += f.Doc.Text()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(docs) < 40 {
		t.Fatalf("%d packages were found", len(docs))
	}
	for dir, doc := range docs {
		lines := strings.Split(doc, "\n")
		if !saysForWhom.MatchString(strings.Join(lines[:min(8, len(lines))], " ")) {
			t.Errorf("%s does not say who reads it:\n%s", dir, doc[:min(400, len(doc))])
		}
	}
}

// goFile is the name of a Go file in the map of a package, with the way there if it is in another one.
var goFile = regexp.MustCompile(`[\w./*]*\w\*?\.go\b`)

// TestMapsNameFilesThatAreThere: a file that moves or is divided takes its line in the map of its package with it. A package whose doc names half
// of its files has a map, and names them all.
func TestMapsNameFilesThatAreThere(t *testing.T) {
	named, maps := 0, 0
	for _, top := range []string{"generator", "runtime", "schema"} {
		err := filepath.WalkDir("../../"+top, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.Name() != "doc.go" {
				return err
			}
			text, err := os.ReadFile(name)
			names := goFile.FindAllString(string(text), -1)
			named += len(names)
			for _, file := range names {
				if strings.HasSuffix(file, ".gen.go") {
					continue // of a generated package
				}
				here, _ := filepath.Glob(filepath.Join(filepath.Dir(name), file))
				there, _ := filepath.Glob(filepath.Join("../..", file))
				below, _ := filepath.Glob(filepath.Join("../..", top, file))
				if len(here)+len(there)+len(below) == 0 {
					t.Errorf("%s names %s, which is not there", name, file)
				}
			}
			files, missing := unnamed(filepath.Dir(name), names)
			if len(missing)*2 > files {
				return err
			}
			if maps++; len(missing) > 0 {
				t.Errorf("%s names other files of its package, and not %s", name, strings.Join(missing, ", "))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if named < 100 || maps < 20 {
		t.Fatalf("%d files are named, and %d packages have maps", named, maps)
	}
}

// unnamed counts the files of a package, without its tests and doc.go, and lists those that none of the names and patterns is for.
func unnamed(dir string, names []string) (files int, missing []string) {
	all, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, file := range all {
		base := filepath.Base(file)
		if strings.HasSuffix(base, "_test.go") || base == "doc.go" {
			continue
		}
		files++
		if !slices.ContainsFunc(names, func(name string) bool { ok, _ := filepath.Match(name, base); return ok }) {
			missing = append(missing, base)
		}
	}
	return files, missing
}
