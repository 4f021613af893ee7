package main

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

var (
	ruleID   = regexp.MustCompile(`\b[A-Z]{3}\d\d\b`)
	letterID = regexp.MustCompile(`LET\d\d`)
)

// prove holds the evidence of each sentence against what there is, and returns what is wrong with it:
//
//	met     tests, divided by spaces: functions, txtar files, or ids of served rules, whose tests prove it
//	author  file#words: where the author of a server reads it
//	na      why
//	open    what is missing; the rules that it names are planned, so that who serves one comes by here
func prove(all []sentence, rules []rule, tests tests, files fs.FS) (wrong []string) {
	for _, s := range all {
		var why string
		switch s.state {
		case met:
			why = untested(s.proof, rules, tests)
		case author:
			why = unwritten(s.proof, files)
		case open:
			why = closed(s.proof, rules)
		}
		if why != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %s: %s", s.where, s.id, why))
		}
	}
	return wrong
}

// officialPage is one of the specification or its tasks extension. The other tables have rules of the project's own.
var officialPage = regexp.MustCompile(`^(20\d\d-\d\d-\d\d|extensions/tasks)([/#]|$)`)

// citations are the sentences of official pages that name a test of a rule of the specification's letter, LET, by rule.
func citations(all []sentence) map[string][]sentence {
	cited := map[string][]sentence{}
	for _, s := range all {
		if s.state != met || !officialPage.MatchString(s.page) {
			continue
		}
		ids := letterID.FindAllString(strings.ToUpper(s.proof), -1)
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			cited[id] = append(cited[id], s)
		}
	}
	return cited
}

// uncited finds the served rules of the letter without an official page: no test that carries the id is named by a sentence of one.
func uncited(all []sentence, rules []rule) (wrong []string) {
	cited := citations(all)
	for _, r := range rules {
		if letterID.MatchString(r.id) && r.state == served && len(cited[r.id]) == 0 {
			wrong = append(wrong, fmt.Sprintf("%s: no sentence of an official page names a test of it: which page asks for it?", r.id))
		}
	}
	return wrong
}

func untested(proof string, rules []rule, tests tests) string {
	for _, name := range strings.Fields(proof) {
		switch {
		case tests[name]:
		case ruleID.FindString(name) != name:
			return fmt.Sprintf("there is no test %s", name)
		case stateOf(name, rules) != served:
			return fmt.Sprintf("%s is not served", name)
		case !tests.carry(name):
			return fmt.Sprintf("no test carries %s", name)
		}
	}
	return ""
}

func unwritten(proof string, files fs.FS) string {
	path, words, ok := strings.Cut(proof, "#")
	if !ok || words == "" {
		return fmt.Sprintf("%q is not file#words", proof)
	}
	text, err := fs.ReadFile(files, path)
	if err != nil {
		return err.Error()
	}
	if !strings.Contains(string(text), words) {
		return fmt.Sprintf("%s does not say %q", path, words)
	}
	return ""
}

func closed(proof string, rules []rule) string {
	for _, id := range ruleID.FindAllString(proof, -1) {
		if state := stateOf(id, rules); state != planned {
			return fmt.Sprintf("%s is %s: name the test that proves the sentence, or what is still missing", id, state)
		}
	}
	return ""
}

// stateOf is the state of a rule, "no rule" for one that does not exist.
func stateOf(id string, rules []rule) string {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.id == id })
	if i < 0 {
		return "no rule"
	}
	return rules[i].state
}
