package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// imageBuild is the command imagebuild CONTEXT ROOT: it makes the folder ROOT and runs the first stage of CONTEXT/Dockerfile there, without a
// network. It knows WORKDIR, COPY of everything, and RUN.
func imageBuild(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: imagebuild CONTEXT ROOT")
	}
	from, root := ts.MkAbs(args[0]), ts.MkAbs(args[1])
	dir := root
	for _, line := range strings.Split(strings.ReplaceAll(ts.ReadFile(filepath.Join(from, "Dockerfile")), "\\\n", " "), "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "FROM":
			if !strings.HasSuffix(rest, " AS build") {
				return
			}
		case "WORKDIR":
			dir = filepath.Join(root, rest)
			ts.Check(os.MkdirAll(dir, 0o777))
		case "COPY":
			if rest != ". ." {
				ts.Fatalf("COPY %s", rest)
			}
			ts.Check(os.CopyFS(dir, os.DirFS(from)))
		case "RUN":
			run := exec.Command("sh", "-ec", strings.ReplaceAll(rest, " /server", " "+filepath.Join(root, "server")))
			run.Dir = dir
			run.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOMODCACHE="+filepath.Join(root, "modcache"), "GOTOOLCHAIN=local")
			out, err := run.CombinedOutput()
			ts.Logf("%s", out)
			ts.Check(err)
		case "", "#":
		default:
			ts.Fatalf("cannot run %s", line)
		}
	}
	ts.Fatalf("the Dockerfile has no last stage")
}
