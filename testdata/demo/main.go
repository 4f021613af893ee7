// Demo shows what a generated server does: it scaffolds a project with the mcpkiln command, generates, builds, and drives
// the server over stdio, printing every message that crosses the wire. At the end it kills the server in the middle of a task.
//
//	go run ./testdata/demo -mcpkiln BIN -replace MODULE_DIR
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	mcpkiln := flag.String("mcpkiln", "mcpkiln", "the mcpkiln command")
	replace := flag.String("replace", "", "directory of the mcpkiln module that the project links against")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := run(ctx, *mcpkiln, *replace); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, mcpkiln, replace string) error {
	tool, err := filepath.Abs(mcpkiln)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mcpkiln-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	project := filepath.Join(dir, "reports")
	steps := []struct {
		dir  string
		args []string
	}{
		{dir, []string{tool, "init", "--store", "sqlite", "--replace", replace, project}},
		{project, []string{"go", "mod", "tidy"}},
		{project, []string{tool, "generate"}},
		{project, []string{tool, "check"}},
		{project, []string{"go", "test", "."}},
		{project, []string{"go", "build", "-o", "server", "."}},
	}
	for _, s := range steps {
		if err := step(ctx, s.dir, s.args); err != nil {
			return err
		}
	}
	server := filepath.Join(project, "server")
	if err := drive(ctx, server); err != nil {
		return err
	}
	if err := survive(ctx, server); err != nil {
		return err
	}
	fmt.Println("\nThe server ended by itself when its input did. That was the tour.")
	return nil
}

// step runs one command of the tour and shows it as a person would type it.
func step(ctx context.Context, dir string, args []string) error {
	shown := append([]string{filepath.Base(args[0])}, args[1:]...)
	fmt.Printf("$ %s\n", join(shown))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", shown[0], err)
	}
	return nil
}

// drive starts the server and plays the scenes one after the other on one connection.
func drive(ctx context.Context, server string) error {
	p, err := start(ctx, server)
	if err != nil {
		return err
	}
	defer p.kill()
	for _, scene := range scenes {
		fmt.Printf("\n── %s\n", scene.title)
		if err := scene.play(p); err != nil {
			return fmt.Errorf("%s: %w", scene.title, err)
		}
	}
	return p.close()
}
