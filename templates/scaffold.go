package templates

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"strings"
	"text/template"
)

//go:embed all:scaffold
var scaffold embed.FS

// Project is what the files of a new project are filled with.
type Project struct {
	Module   string // path of the module that the project is or belongs to
	Import   string // import path of the project's own directory
	Package  string // generated package, and name of the server
	Runtime  string // module path of the runtime
	Version  string // version of it that go.mod asks for
	Replace  string // directory that stands in for it; empty for none
	OwnGoMod bool   // the project is a module of its own
	Root     bool   // its directory is that of the module
	Store    string // what can keep tasks besides memory: StoreSQLite, StorePostgres, or "" for nothing
	HTTP     bool   // the program serves HTTP unless it is told otherwise
	Stubs    bool   // the handlers are stubs, which stand beside these files; else they are examples that work
	Existing bool   // there is a package in the directory, which the project becomes part of
	Name     string // of the package of these files; "" for main
	Type     string // of the handlers; "" for handlers
}

// The stores that a project can have.
const (
	StoreSQLite   = "sqlite"
	StorePostgres = "postgres"
)

// SQLite and Postgres are what the templates ask for.
func (p Project) SQLite() bool   { return p.Store == StoreSQLite }
func (p Project) Postgres() bool { return p.Store == StorePostgres }

// ScaffoldFile is one file of a new project; Path is relative to its directory, slash separated.
type ScaffoldFile struct {
	Path    string
	Content []byte
}

// Scaffold fills the files of a new project. A file of which nothing but blanks is left is not part of it.
func Scaffold(p Project) ([]ScaffoldFile, error) {
	p.Name, p.Type = cmp.Or(p.Name, "main"), cmp.Or(p.Type, "handlers")
	var files []ScaffoldFile
	err := fs.WalkDir(scaffold, "scaffold", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fill(name, p)
		if err != nil {
			return fmt.Errorf("templates: %w", err)
		}
		if len(bytes.TrimSpace(content)) == 0 {
			return nil
		}
		target := strings.TrimSuffix(strings.TrimPrefix(name, "scaffold/"), ".tmpl")
		files = append(files, ScaffoldFile{Path: target, Content: content})
		return nil
	})
	return files, err
}

// Collides reports whether the name of the generated package is one that the files of a new project use for something else, or that
// Go predeclares.
func Collides(name, store string) (bool, error) {
	files, err := Scaffold(Project{Package: "PACKAGE", Store: store})
	for _, f := range files {
		if path.Ext(f.Path) == ".go" && uses(f.Content, name) {
			return true, nil
		}
	}
	return types.Universe.Lookup(name) != nil, err
}

// uses reports whether name is one of the identifiers of a file.
func uses(file []byte, name string) bool {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(file)), file, nil, 0)
	for {
		switch _, what, text := s.Scan(); {
		case what == token.IDENT && text == name:
			return true
		case what == token.EOF:
			return false
		}
	}
}

func fill(name string, p Project) ([]byte, error) {
	t, err := template.New(path.Base(name)).Option("missingkey=error").ParseFS(scaffold, name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, p)
	return b.Bytes(), err
}
