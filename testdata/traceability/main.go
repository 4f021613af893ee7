// Traceability lists the rules of the ledger that no test names yet.
//
//	go run ./testdata/traceability            # reads the ledger beside it
//	go run ./testdata/traceability -against requirements.md
//
// A test names a rule when its function's name, or the name of its txtar file, contains the id. The exit status is 1
// when a rule that the present release serves has no test, or when the ledger and the requirements differ.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// row is one line of the ledger.
type row struct{ id, state, about string }

var (
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	ruleRow  = regexp.MustCompile(`(?m)^\| ([A-Z]{3}\d\d) \|`)
)

func main() {
	ledger := flag.String("ledger", "testdata/traceability/ledger.tsv", "the ledger of rules")
	against := flag.String("against", "", "requirements document whose ids the ledger must have")
	flag.Parse()
	ok, err := run(*ledger, *against)
	if err != nil {
		fmt.Fprintln(os.Stderr, "traceability:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(ledger, against string) (bool, error) {
	rows, err := readLedger(ledger)
	if err != nil {
		return false, err
	}
	names, err := testNames(".")
	if err != nil {
		return false, err
	}
	ok := report(rows, names)
	if against == "" {
		return ok, nil
	}
	same, err := sameIDs(rows, against)
	return ok && same, err
}

func readLedger(path string) ([]row, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rows []row
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(line, "\t", 3)
		if len(f) != 3 || (f[1] != "served" && f[1] != "planned") {
			return nil, fmt.Errorf("%s: not id, state and text: %q", path, line)
		}
		rows = append(rows, row{f[0], f[1], f[2]})
	}
	return rows, nil
}

// testNames returns the upper-case names of test functions and txtar files below dir, one a line.
func testNames(dir string) (string, error) {
	var names bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		switch {
		case strings.HasSuffix(path, ".txtar"):
			fmt.Fprintln(&names, filepath.Base(path))
		case strings.HasSuffix(path, "_test.go"):
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range testFunc.FindAllSubmatch(src, -1) {
				fmt.Fprintf(&names, "%s\n", m[1])
			}
		}
		return nil
	})
	return strings.ToUpper(names.String()), err
}

// report prints the rows without a test and says whether every served row has one.
func report(rows []row, names string) bool {
	traced, missing := 0, 0
	for _, r := range rows {
		switch {
		case strings.Contains(names, r.id):
			traced++
		case r.state == "served":
			missing++
			fmt.Printf("missing  %s  %s\n", r.id, r.about)
		default:
			fmt.Printf("planned  %s  %s\n", r.id, r.about)
		}
	}
	fmt.Printf("traceability: %d of %d rules have a test, %d served ones do not\n", traced, len(rows), missing)
	return missing == 0
}

// sameIDs compares the ids of the ledger with those of the requirements document.
func sameIDs(rows []row, path string) (bool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	var want, got []string
	for _, m := range ruleRow.FindAllSubmatch(data, -1) {
		want = append(want, string(m[1]))
	}
	for _, r := range rows {
		got = append(got, r.id)
	}
	slices.Sort(want)
	slices.Sort(got)
	if slices.Equal(want, got) {
		return true, nil
	}
	for _, id := range want {
		if !slices.Contains(got, id) {
			fmt.Printf("ledger: %s is missing\n", id)
		}
	}
	for _, id := range got {
		if !slices.Contains(want, id) {
			fmt.Printf("ledger: %s is not a requirement\n", id)
		}
	}
	return false, nil
}
