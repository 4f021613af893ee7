package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

var (
	someRules = []rule{{"CAN01", served, ""}, {"CAN02", served, ""}, {"LET01", planned, ""}}
	someTests = tests{"TestCAN01Ends": true, "can01-ends.txtar": true, "TestOther": true}
	someFiles = fstest.MapFS{"doc.txt": {Data: []byte("Secrets: none")}}
)

func row(columns ...string) string { return strings.Join(columns, "\t") + "\n" }

// check reads lines as one table and returns everything that is wrong with them.
func check(t *testing.T, lines ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.tsv"), []byte("# comment\n\n"+strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	all, wrong, err := readSentences(dir)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(append(wrong, prove(all, someRules, someTests, someFiles)...), "\n")
}

func TestSentencesThatStand(t *testing.T) {
	if got := check(t,
		row("25-ping-1", "2025-11-25/basic/ping#behavior", "must", met, "TestCAN01Ends can01-ends.txtar CAN01", "a ping is answered"),
		row("25-ping-2", "2025-11-25/basic/ping", "should", author, "doc.txt#Secrets:", "nothing secret"),
		row("26-ping-1", "2026-07-28/basic/ping", "may", na, "there is none", "as often as it likes"),
		row("ext-tasks-1", "tasks", "must", open, "LET01: the second half", "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"),
	); got != "" {
		t.Error(got)
	}
}

func TestSentencesThatDoNot(t *testing.T) {
	good := []string{"25-ping-1", "2025-11-25/ping", "must", met, "TestOther", "a ping is answered"}
	with := func(column int, value string) string {
		r := append([]string(nil), good...)
		r[column] = value
		return row(r...)
	}
	state := func(state, proof string) string {
		return row("25-ping-1", "2025-11-25/ping", "must", state, proof, "a ping is answered")
	}
	for name, c := range map[string]struct{ lines, want string }{
		"a column too few":      {row(good[:5]...), "5 columns"},
		"a column too many":     {row(append(good, "more")...), "7 columns"},
		"id":                    {with(0, "ping"), `"ping" is no id`},
		"page":                  {with(1, "a page"), `"a page" is no page`},
		"strength":              {with(2, "MUST"), `"MUST" is no strength`},
		"state":                 {with(3, "done"), `"done" is no state`},
		"no evidence":           {with(4, " "), "is no evidence"},
		"no text":               {with(5, ""), "is no text"},
		"sixteen words":         {with(5, strings.Repeat("word ", 16)), "16 words"},
		"an id twice":           {row(good...) + row(good...), "is at"},
		"a name for two pages":  {row(good...) + row("25-ping-2", "2025-11-25/pong", "must", met, "TestOther", "x"), "stands for 2025-11-25/ping"},
		"no such test":          {state(met, "TestOther TestGone"), "no test TestGone"},
		"part of a test's name": {state(met, "TestCAN01"), "no test TestCAN01"},
		"no such file of tests": {state(met, "gone.txtar"), "no test gone.txtar"},
		"a planned rule":        {state(met, "LET01"), "LET01 is not served"},
		"no such rule":          {state(met, "XYZ01"), "XYZ01 is not served"},
		"a rule without a test": {state(met, "CAN02"), "no test carries CAN02"},
		"words that are not there": {
			state(author, "doc.txt#Tokens:"), `does not say "Tokens:"`},
		"no words":                {state(author, "doc.txt"), "is not file#words"},
		"no such file":            {state(author, "gone.txt#x"), "gone.txt"},
		"open with a served rule": {state(open, "CAN01: the rest"), "CAN01 is served: name the test"},
		"open with no such rule":  {state(open, "LET99"), "LET99 is no rule"},
	} {
		if got := check(t, c.lines); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s: want %q alone, got %q", name, c.want, got)
		}
	}
}

// Each rule of the specification's letter has an official page: the one of a sentence that names a test of it.
func TestRulesOfTheLetterHavePages(t *testing.T) {
	rules := []rule{{"LET01", served, ""}, {"LET02", served, ""}, {"LET03", planned, ""}, {"LET04", served, ""}, {"LET05", served, ""}, {"CAN01", served, ""}}
	all := []sentence{
		{page: "2025-11-25/basic#messages", state: met, proof: "TestOther TestLET01Bytes TestLET01Keys"},
		{page: "extensions/tasks#errors", state: met, proof: "let04-names.txtar"},
		{page: "2025-11-25/basic", state: author, proof: "doc.txt#LET02"},
		{page: "client-rules/envelope", state: met, proof: "TestLET05Codes"},
	}
	var ids []string
	for _, w := range uncited(all, rules) {
		ids = append(ids, w[:len("LET00")])
	}
	if got := strings.Join(ids, " "); got != "LET02 LET05" {
		t.Errorf("without a page are %s, want LET02 and LET05", got)
	}
	got := letter(all, rules, tests{"TestLET01Bytes": true, "TestLET01Keys": true, "let04-names.txtar": true})
	for _, want := range []string{"LET01   2 tests,  1 sentences of 2025-11-25/basic\n", "LET04   1 tests,  1 sentences of extensions/tasks\n", "LET05   0 tests,  0 sentences of \n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the rows lack %q:\n%s", want, got)
		}
	}
}

// What the tables of this repository say holds.
func TestTheTablesHold(t *testing.T) {
	t.Chdir("../..")
	if ok, err := run("testdata/traceability/ledger.tsv", "testdata/traceability/sentences", "", false); err != nil || !ok {
		t.Errorf("the tables are wrong: %v", err)
	}
}

func TestTableCountsByPage(t *testing.T) {
	all := []sentence{{id: "25-a-1", page: "2025/a#x", state: met}, {id: "25-a-2", page: "2025/a#y", state: open, proof: "LET01", text: "t"}, {id: "26-b-1", page: "2026/b", state: author}}
	want := []string{"sentences tests author n/a open page", "2 1 0 0 1 2025/a", "1 0 1 0 0 2026/b", "3 1 1 0 1 all"}
	for i, line := range strings.Split(strings.TrimSpace(table(all)), "\n") {
		if got := strings.Join(strings.Fields(line), " "); got != want[i] {
			t.Errorf("line %d: %q, want %q", i, got, want[i])
		}
	}
	if got := openOnes(all); !strings.HasPrefix(got, "open  LET01  25-a-2") || strings.Count(got, "\n") != 1 {
		t.Error(got)
	}
}
