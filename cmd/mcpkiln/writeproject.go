package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/templates"
)

// writeProject makes a new directory: it writes all files into a temporary one and renames that, so that an error leaves no half of a project.
func writeProject(ctx context.Context, dir string, files []templates.ScaffoldFile) (err error) {
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	stage, err := os.MkdirTemp(parent, ".mcpkiln-init-")
	if err != nil {
		return fmt.Errorf("nothing can be made in %s: %w", parent, errors.Unwrap(err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	made := filepath.Join(stage, "project")
	if _, err := writeNew(ctx, made, files); err != nil {
		return err
	}
	return os.Rename(made, dir)
}

// writeBeside writes files into a directory that is there. After an error none of them is left.
func writeBeside(ctx context.Context, dir string, files []templates.ScaffoldFile) error {
	written, err := writeNew(ctx, dir, files)
	if err != nil {
		for _, path := range written {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

// writeNew writes new files, and returns the paths of those written. A file that exists is an error.
func writeNew(ctx context.Context, dir string, files []templates.ScaffoldFile) (written []string, err error) {
	for _, f := range files {
		if ctx.Err() != nil {
			return written, context.Cause(ctx)
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return written, err
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return written, err
		}
		written = append(written, path)
		_, err = file.Write(f.Content)
		if err := errors.Join(err, file.Close()); err != nil {
			return written, err
		}
	}
	return written, nil
}

// print lists what was written and what was left, and what to do next.
func (p *project) print(cmd *cobra.Command, files []templates.ScaffoldFile, left []string) error {
	out := cmd.OutOrStdout()
	for _, f := range files {
		fmt.Fprintln(out, "wrote  ", filepath.Join(p.dir, filepath.FromSlash(f.Path)))
	}
	for _, path := range left {
		fmt.Fprintln(out, "left   ", filepath.Join(p.dir, filepath.FromSlash(path))+": it was there")
	}
	if !p.tests {
		fmt.Fprintln(out, "There are no tests: the package declares update, everyRevision or newServer, which they would.")
	}
	for _, tool := range p.untested {
		fmt.Fprintf(out, "No test cancels %s: write one, with arguments that its schema allows.\n", tool)
	}
	_, err := fmt.Fprintf(out, "\nNext:\n%s%s", p.setUp(), p.use())
	return err
}

// use returns the commands that test and run the server.
func (p *project) use() string {
	if p.Existing {
		serve := `err = srv.Run(server.WithPrincipal(ctx, "stdio"), rpc.Stdio())`
		if p.HTTP {
			serve = `http.Handle("/mcp", streamhttp.Handler(srv))`
		}
		return fmt.Sprintf("  go test ./...\nServe it where your program begins:\n  srv, err := %s.New(&%s{})\n  …\n  %s\n", p.Package, p.Type, serve)
	}
	stdio, http, keep := "go run .               # serves MCP on stdin and stdout", "go run . -http :8080   # serves it on http://127.0.0.1:8080/mcp", ""
	if p.HTTP {
		stdio, http = `go run . -http ''      # serves MCP on stdin and stdout`, "go run .               # serves it on http://127.0.0.1:8080/mcp"
	}
	switch p.Store {
	case templates.StoreSQLite:
		keep = "  go run . -tasks tasks.db   # keeps tasks in that file: they survive a crash\n"
	case templates.StorePostgres:
		keep = "  go run . -tasks postgres://user@host/database   # keeps tasks there, for any number of replicas; the password in PGPASSWORD\n"
	}
	return fmt.Sprintf("  go test ./...\n  %s\n  %s\n%s  go build .             # the program that a client starts\n", stdio, http, keep)
}

// setUp returns the commands that depend on the project's directory and on the version of the runtime.
func (p *project) setUp() string {
	var b strings.Builder
	if filepath.Clean(p.dir) != "." {
		fmt.Fprintf(&b, "  cd %s\n", quoteWord(p.dir))
	}
	link := p.Replace
	if link == "" && p.Version == unreleased {
		link = "CLONE" // only released versions can be downloaded
	}
	modules := []string{""}
	if p.Store != "" {
		modules = append(modules, "/runtime/task/"+p.Store)
	}
	if link != "" && (!p.OwnGoMod || p.Replace == "") {
		for i, m := range modules {
			fmt.Fprintf(&b, "  go mod edit -replace %s", quoteWord(p.Runtime+m+"="+link+m))
			if !p.OwnGoMod {
				fmt.Fprintf(&b, " -require %s@%s", p.Runtime+m, unreleased)
			}
			if !p.OwnGoMod && i == 0 {
				fmt.Fprintf(&b, " -tool %s/cmd/mcpkiln", p.Runtime)
			}
			b.WriteByte('\n')
		}
	}
	if p.OwnGoMod || link != "" {
		b.WriteString("  go mod tidy\n")
		return b.String()
	}
	fmt.Fprintf(&b, "  go get -tool %s/cmd/mcpkiln@%s\n", p.Runtime, p.Version)
	for _, m := range modules[1:] {
		fmt.Fprintf(&b, "  go get %s%s@%s\n", p.Runtime, m, p.Version)
	}
	if p.SQLite() {
		b.WriteString("  go get modernc.org/sqlite\n")
	}
	b.WriteString("  go mod tidy\n")
	return b.String()
}

// quoteWord quotes s as one word for a shell.
func quoteWord(s string) string {
	if !strings.ContainsAny(s, " !\"$&'()*;<>?[\\]`{|}~#\t\n") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
