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
