// Traceability holds the tests against what is promised: the rules of the ledger, and the sentences of the specification.
//
//	go run ./testdata/traceability            # reads the ledger and the sentences beside it
//	go run ./testdata/traceability -open      # also lists the sentences that are not kept yet
//	go run ./testdata/traceability -against requirements.md
//
// A test names a rule when its function's name, or the name of its txtar file, contains the id. The exit status is 1
// when a rule that the present release serves has no test, when one of the specification's letter (LET) has none that a sentence of an
// official page names, when the ledger and the requirements differ, or when a line of the sentences is wrong. See sentence.go for their form.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	ledger := flag.String("ledger", "testdata/traceability/ledger.tsv", "the ledger of rules")
	sentences := flag.String("sentences", "testdata/traceability/sentences", "the folder with the sentences of the specification")
	against := flag.String("against", "", "requirements document whose ids the ledger must have")
	open := flag.Bool("open", false, "list the sentences that are not kept yet")
	flag.Parse()
	ok, err := run(*ledger, *sentences, *against, *open)
	if err != nil {
		fmt.Fprintln(os.Stderr, "traceability:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(ledger, sentences, against string, open bool) (bool, error) {
	rules, err := readLedger(ledger)
	if err != nil {
		return false, err
	}
	tests, err := findTests(".")
	if err != nil {
		return false, err
	}
	ok := reportRules(rules, tests)
	all, wrong, err := readSentences(sentences)
	if err != nil {
		return false, err
	}
	wrong = append(append(wrong, prove(all, rules, tests, os.DirFS("."))...), uncited(all, rules)...)
	for _, w := range wrong {
		fmt.Println(w)
	}
	fmt.Print(letter(all, rules, tests))
	fmt.Print(table(all))
	if open {
		fmt.Print(openOnes(all))
	}
	ok = ok && len(wrong) == 0
	if against == "" {
		return ok, nil
	}
	same, err := sameIDs(rules, against)
	return ok && same, err
}
