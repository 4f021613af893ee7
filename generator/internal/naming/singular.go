package naming

import "strings"

// singulars has irregular plurals with their singulars, and words that only look like plurals with themselves.
var singulars = wordMap("children child people person men man women woman feet foot indices index vertices vertex matrices matrix " +
	"statuses status buses bus viruses virus bonuses bonus aliases alias canvases canvas gases gas lenses lens " +
	"analyses analysis diagnoses diagnosis hypotheses hypothesis theses thesis axes axis caches cache movies movie cookies cookie " +
	"shoes shoe halves half leaves leaf " +
	"series series species species news news alias alias canvas canvas atlas atlas chaos chaos gas gas lens lens bias bias " +
	"always always has has was was this this does does plus plus bus bus aws aws gps gps sms sms ios ios rss rss kubernetes kubernetes")

func wordMap(list string) map[string]string {
	words := strings.Fields(list)
	m := make(map[string]string, len(words)/2)
	for i := 0; i < len(words); i += 2 {
		m[words[i]] = words[i+1]
	}
	return m
}

// Singular returns the Go name of one element of a list called name: line_items is LineItem. It is empty if name is no
// plural.
func Singular(name string) string {
	start, last := 0, ""
	for i, word := range Each(name) {
		start, last = i, word
	}
	last = strings.ToLower(last)
	one := singularWord(last)
	if one == last {
		return ""
	}
	return GoWords(name[:start] + " " + one)
}

// singularWord returns word itself if it is no plural.
func singularWord(word string) string {
	if one, ok := singulars[word]; ok {
		return one
	}
	if !strings.HasSuffix(word, "s") {
		return word // as every ending below does
	}
	if _, ok := initialisms[strings.TrimSuffix(word, "s")]; !ok && initialisms[word] != "" {
		return word // DNS, but not URLs
	}
	for _, ending := range []struct{ plural, one string }{
		{"ss", "ss"}, {"us", "us"}, {"is", "is"},
		{"ies", "y"}, {"sses", "ss"}, {"shes", "sh"}, {"ches", "ch"}, {"xes", "x"}, {"zzes", "zz"}, {"oes", "o"}, {"s", ""},
	} {
		if stem, ok := strings.CutSuffix(word, ending.plural); ok && len(stem) > 1 {
			return stem + ending.one
		}
	}
	return word
}
