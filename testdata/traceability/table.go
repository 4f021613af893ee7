package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// table says for each page how many of its sentences tests cite, authors keep, do not apply, and are open.
func table(all []sentence) string {
	counts, total := map[string]map[string]int{}, map[string]int{}
	var pages []string
	for i := range all {
		path := all[i].path()
		if counts[path] == nil {
			counts[path] = map[string]int{}
			pages = append(pages, path)
		}
		counts[path][all[i].state]++
		total[all[i].state]++
	}
	slices.Sort(pages)
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(page string, n map[string]int) {
		sum := n[met] + n[author] + n[na] + n[open]
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t  %s\n", sum, n[met], n[author], n[na], n[open], page)
	}
	fmt.Fprint(w, "sentences\ttests\tauthor\tn/a\topen\t  page\n")
	for _, p := range pages {
		row(p, counts[p])
	}
	row("all", total)
	w.Flush()
	return b.String()
}

// openOnes lists what is open, by what is missing.
func openOnes(all []sentence) string {
	all = slices.DeleteFunc(slices.Clone(all), func(s sentence) bool { return s.state != open })
	slices.SortStableFunc(all, func(a, b sentence) int { return cmp.Compare(a.proof, b.proof) })
	var b strings.Builder
	for i := range all {
		fmt.Fprintf(&b, "open  %s  %s  %s  %s\n", all[i].proof, all[i].id, all[i].strength, all[i].text)
	}
	return b.String()
}

// letter says for each rule of the specification's letter how many tests carry it, and which official pages have sentences that name one.
// A rule may have tests that no sentence names: of what the pages leave to a server.
func letter(all []sentence, rules []rule, tests tests) string {
	cited := citations(all)
	var b strings.Builder
	for _, r := range rules {
		if !letterID.MatchString(r.id) {
			continue
		}
		carry, pages := 0, make([]string, len(cited[r.id]))
		for name := range tests {
			if strings.Contains(strings.ToUpper(name), r.id) {
				carry++
			}
		}
		for i := range cited[r.id] {
			pages[i] = cited[r.id][i].path()
		}
		slices.Sort(pages)
		fmt.Fprintf(&b, "%s  %2d tests, %2d sentences of %s\n", r.id, carry, len(cited[r.id]), strings.Join(slices.Compact(pages), ", "))
	}
	return b.String()
}
