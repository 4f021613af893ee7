package address

import (
	"encoding/json"
	"html"
	"io"
	"net/url"
	"slices"
	"strings"
)

// minSecret is how many bytes a value of a query has at least to be cut out of a text wherever it stands.
const minSecret = 4

// Beginning returns the first most bytes of a body, without what it repeats of the query of its request, whose address is u (nil: unknown).
func Beginning(body io.Reader, u *url.URL, most int) string {
	secrets := secretsOf(u)
	limit := most
	if len(secrets) > 0 {
		limit += len(secrets[0])
	}
	read, _ := io.ReadAll(io.LimitReader(body, int64(limit)))
	text := string(read)
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "")
	}
	if len(read) == limit {
		text = text[:len(text)-begun(text, secrets)]
	}
	return text[:min(len(text), most)]
}

// begun returns how many bytes at the end of a text that was cut may be the beginning of a secret.
func begun(text string, secrets []string) (most int) {
	for _, s := range secrets {
		for n := len(s) - 1; n > most; n-- {
			if strings.HasSuffix(text, s[:n]) {
				most = n
			}
		}
	}
	return most
}

// secretsOf returns what may be secret in a query, in the forms in which a page may repeat it, longer ones first: the whole, and each value.
func secretsOf(u *url.URL) (all []string) {
	if u == nil || u.RawQuery == "" {
		return nil
	}
	add := func(s string) {
		quoted, _ := json.Marshal(s)
		all = append(all, s, html.EscapeString(s), strings.Trim(string(quoted), `"`))
	}
	add("?" + u.RawQuery)
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		_, value, _ := strings.Cut(pair, "=")
		for _, unescape := range []func(string) (string, error){url.QueryUnescape, url.PathUnescape} {
			if plain, err := unescape(value); err == nil && len(plain) >= minSecret {
				add(plain)
			}
		}
		if len(value) >= minSecret {
			add(value)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(all)
}
