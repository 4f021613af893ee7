package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// rule is one line of the ledger.
type rule struct{ id, state, about string }

const (
	served  = "served"
	planned = "planned"
)

var requirement = regexp.MustCompile(`(?m)^\| ([A-Z]{3}\d\d) \|`)

func readLedger(path string) ([]rule, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rules []rule
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(line, "\t", 3)
		if len(f) != 3 || f[1] != served && f[1] != planned {
			return nil, fmt.Errorf("%s: not id, state and text: %q", path, line)
		}
		rules = append(rules, rule{f[0], f[1], f[2]})
	}
	return rules, nil
}

// reportRules prints the rules without a test and says whether every served one has one.
func reportRules(rules []rule, tests tests) bool {
	traced, missing := 0, 0
	for _, r := range rules {
		switch {
		case tests.carry(r.id):
			traced++
		case r.state == served:
			missing++
			fmt.Printf("missing  %s  %s\n", r.id, r.about)
		default:
			fmt.Printf("planned  %s  %s\n", r.id, r.about)
		}
	}
	fmt.Printf("traceability: %d of %d rules have a test, %d served ones do not\n", traced, len(rules), missing)
	return missing == 0
}

// sameIDs compares the ids of the ledger with those of the requirements document.
func sameIDs(rules []rule, path string) (bool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	var want, got []string
	for _, m := range requirement.FindAllSubmatch(data, -1) {
		want = append(want, string(m[1]))
	}
	for _, r := range rules {
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
