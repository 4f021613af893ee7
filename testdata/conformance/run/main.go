// Run holds a server and a client against the protocol's official conformance suite: both requirement sets, and each scenario that they
// do not score. It starts the server on a free loopback port, prints one line a scenario and a summary, and fails on any failure.
//
//	go run ./testdata/conformance/run -server BIN -client BIN -suite testdata/conformance/suite [-only NAME]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// requirementSets are what the suite scores, by revision.
var requirementSets = []string{"2025-11-25", "2026-07-28"}

// unscored are the scenarios that no set scores; each is run by itself.
var unscored = []string{
	"http-header-validation", "http-custom-header-server-validation", "json-schema-2020-12", "server-session-lifecycle", "server-sse-polling",
	"tasks-lifecycle", "tasks-capability-negotiation", "tasks-wire-fields", "tasks-request-state-removal", "tasks-mrtr-input",
	"tasks-request-headers", "tasks-dispatch-and-envelope", "tasks-status-notifications", "tasks-required-task-error", "tasks-mrtr-composition",
}

// foreign are scenarios of extensions, which no set scores and the suite runs all the same: ways to log in without a user.
var foreign = []string{
	"auth/client-credentials-jwt", "auth/client-credentials-basic", "auth/enterprise-managed-authorization", "auth/dpop", "auth/dpop-nonce",
	"auth/wif-jwt-bearer",
}

func main() {
	server := flag.String("server", "", "the server's binary; it is started as BIN -http ADDR")
	client := flag.String("client", "", "the client's binary; it is started as BIN URL")
	suite := flag.String("suite", "testdata/conformance/suite", "directory where the suite is installed")
	only := flag.String("only", "", "run this requirement set or scenario alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := run(ctx, *server, *suite, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	c := &tester{suite: *suite, client: *client}
	if *client != "" && *only == "" {
		for _, set := range requirementSets {
			c.run(ctx, "--requirements", set)
		}
	}
	if err := errors.Join(c.errs...); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	fmt.Printf("conformance: server %v; client %v\n", s, c)
	if s.failed+c.failed > 0 || s.passed == 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context, server, suite, only string) (t *tester, err error) {
	addr, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, server, "-http", addr)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		cmd.Process.Signal(os.Interrupt)
		err = errors.Join(err, cmd.Wait())
	}()
	if err := awaitPort(ctx, addr); err != nil {
		return nil, err
	}
	t = &tester{suite: suite, url: "http://" + addr + "/mcp"}
	for _, set := range requirementSets {
		if only == "" || only == set {
			t.run(ctx, "--requirements", set)
		}
	}
	for _, scenario := range unscored {
		if only == "" || only == scenario {
			t.run(ctx, "--scenario", scenario)
		}
	}
	if only != "" && t.runs == 0 {
		t.run(ctx, "--scenario", only)
	}
	return t, errors.Join(t.errs...)
}

// tester counts checks over all runs of the suite.
type tester struct {
	suite, url      string
	client          string // "": the server is held against the suite
	runs, scenarios int
	passed, failed  int
	errs            []error
}

// String is the tester's part of the last line.
func (t *tester) String() string {
	return fmt.Sprintf("%d passed, %d failed in %d scenarios", t.passed, t.failed, t.scenarios)
}

// run starts the suite once and reads what it wrote.
func (t *tester) run(ctx context.Context, flag, name string) {
	t.runs++
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		t.errs = append(t.errs, err)
		return
	}
	defer os.RemoveAll(dir)
	args := []string{"server", "--url", t.url}
	if t.client != "" {
		args = []string{"client", "--command", t.client}
	}
	args = append([]string{filepath.Join(t.suite, "node_modules/@modelcontextprotocol/conformance/dist/index.js")}, append(args, flag, name, "-o", dir)...)
	cmd := exec.CommandContext(ctx, "node", args...)
	out, runErr := cmd.CombinedOutput()
	results, err := fs.Glob(os.DirFS(dir), "*/checks.json")
	deeper, _ := fs.Glob(os.DirFS(dir), "*/*/checks.json")
	if results = append(results, deeper...); err != nil || len(results) == 0 {
		t.errs = append(t.errs, fmt.Errorf("%s: the suite wrote no results: %w\n%s", name, errors.Join(runErr, err), out))
		return
	}
	slices.Sort(results)
	before := t.failed
	for _, path := range results {
		if scenario := resultDir.ReplaceAllString(filepath.ToSlash(filepath.Dir(path)), "$1"); !slices.Contains(foreign, scenario) {
			t.scenario(name, scenario, filepath.Join(dir, path))
		}
	}
	// The exit status counts beside the checks, but for sets it covers what they do not score as well.
	if runErr != nil && flag == "--scenario" && t.failed == before {
		t.failed++
		fmt.Printf("FAIL  %s: %v\n%s\n", name, runErr, out)
	}
}

// check is one line of a scenario's results.
type check struct {
	ID, Status, ErrorMessage string
}

var resultDir = regexp.MustCompile(`^(?:server-)?(.*)-\d{4}-\d\d-\d\dT.*$`)

func (t *tester) scenario(set, name, path string) {
	t.scenarios++
	data, err := os.ReadFile(path)
	var checks []check
	if err == nil {
		err = json.Unmarshal(data, &checks)
	}
	if err != nil {
		t.errs = append(t.errs, fmt.Errorf("%s: %w", name, err))
		return
	}
	var bad []string
	good := 0
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			good++
		case "FAILURE", "WARNING":
			bad = append(bad, fmt.Sprintf("      %s %s: %s", strings.ToLower(c.Status), c.ID, c.ErrorMessage))
		}
	}
	t.passed += good
	t.failed += len(bad)
	verdict := "ok  "
	if len(bad) > 0 {
		verdict = "FAIL"
	}
	label := name
	if set != name {
		label = set + " " + name
	}
	fmt.Printf("%s  %s: %d passed, %d failed\n", verdict, label, good, len(bad))
	for _, line := range bad {
		fmt.Println(line)
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// awaitPort waits until the server accepts connections.
func awaitPort(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if c, err := net.Dial("tcp", addr); err == nil {
			return c.Close()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the server does not listen on %s: %w", addr, context.Cause(ctx))
		}
	}
}
