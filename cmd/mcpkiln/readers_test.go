package main

import (
	"go/parser"
	"go/token"
	"io/fs"
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
