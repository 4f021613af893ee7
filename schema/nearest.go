package schema

import "strings"

// DidYouMean returns the hint `did you mean "x"?` with the known word that is closest to word, or "" if none is
// close. Case does not count.
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return `did you mean "` + near + `"?`
	}
	return ""
}

// Nearest returns the known word that word is probably a misspelling of: one edit away, or two for words of eight letters
// and more; an edit is a letter too many, missing, changed, or swapped with the next. It returns "" if there is none.
func Nearest(word string, known []string) string {
	best, bestEdits := "", 3
	lower := strings.ToLower(word)
	for _, k := range known {
		allowed := 1
		switch {
		case len(k) < 3:
			allowed = 0
		case len(k) >= 8:
			allowed = 2
		}
		if abs(len(k)-len(word)) > allowed {
			continue
		}
		if e := edits(lower, strings.ToLower(k)); e <= allowed && e < bestEdits {
			best, bestEdits = k, e
		}
	}
	return best
}

// edits is the optimal string alignment distance, in bytes.
func edits(a, b string) int {
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}

func abs(n int) int { return max(n, -n) }
