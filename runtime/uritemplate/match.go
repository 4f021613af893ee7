package uritemplate

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Match returns the values of each variable in a URI, decoded, in the order of Variables: one value for {var} and {+path}, none for a
// variable that the query leaves out. ok is false if the template does not match it.
func (t *Template) Match(uri string) (values [][]string, ok bool) {
	values = make([][]string, len(t.vars))
	rest, query := uri, ""
	if t.query < len(t.vars) {
		rest, query, _ = strings.Cut(uri, "?")
	}
	for i := 0; i < len(t.parts); i++ {
		p := t.parts[i]
		if p.text != "" {
			if rest, ok = strings.CutPrefix(rest, p.text); !ok {
				return nil, false
			}
			continue
		}
		text, after, found := t.extent(rest, i)
		value, good := decode(text)
		if !found || !good {
			return nil, false
		}
		values[p.v], rest = []string{value}, after
	}
	return values, rest == "" && t.matchQuery(query, values)
}

// extent divides rest, which begins with the value of part i, into that and what follows it.
func (t *Template) extent(rest string, i int) (value, after string, ok bool) {
	follows := ""
	if i+1 < len(t.parts) {
		follows = t.parts[i+1].text
	}
	end := len(rest)
	if !t.vars[t.parts[i].v].Reserved {
		if at := strings.IndexAny(rest, reserved); at >= 0 {
			end = at
		}
		if at := strings.IndexAny(follows, reserved); at >= 0 {
			follows = follows[:at]
		}
	}
	value, ok = strings.CutSuffix(rest[:end], follows)
	return value, rest[len(value):], ok && value != ""
}

// matchQuery reads a query. One with other names than the template's is of another resource.
func (t *Template) matchQuery(query string, values [][]string) bool {
	if query == "" {
		return true
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, text, _ := strings.Cut(pair, "=")
		at := slices.IndexFunc(t.vars, func(v Variable) bool { return v.Query && v.Name == name })
		value, ok := decode(text)
		if at < 0 || !ok || len(values[at]) > 0 && !t.vars[at].List {
			return false
		}
		values[at] = append(values[at], value)
	}
	return true
}

// decode undoes percent-encoding; ok is false for what is malformed or no UTF-8.
func decode(text string) (value string, ok bool) {
	value, err := url.PathUnescape(text)
	return value, err == nil && utf8.ValidString(value)
}

// Expand makes the URI of values, which are those of each variable in the order of Variables: one for {var} and {+path}, any number for
// those of the query, more than one for lists alone.
func (t *Template) Expand(values [][]string) (string, error) {
	if len(values) != len(t.vars) {
		return "", fmt.Errorf("uritemplate: %d values for %d variables", len(values), len(t.vars))
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.text != "" {
			b.WriteString(p.text)
			continue
		}
		if len(values[p.v]) != 1 || values[p.v][0] == "" {
			return "", fmt.Errorf("uritemplate: %s needs a value", t.vars[p.v].Name)
		}
		b.WriteString(encode(values[p.v][0], t.vars[p.v].Reserved))
	}
	mark := byte('?')
	for i, v := range t.vars[t.query:] {
		if of := values[t.query+i]; len(of) > 1 && !v.List {
			return "", fmt.Errorf("uritemplate: %s has one value", v.Name)
		}
		for _, value := range values[t.query+i] {
			b.WriteByte(mark)
			b.WriteString(v.Name + "=" + encode(value, false))
			mark = '&'
		}
	}
	return b.String(), nil
}

const hex = "0123456789ABCDEF"

// encode percent-encodes all but unreserved characters, and reserved ones if they stay.
func encode(value string, stay bool) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		if unreserved(c) || stay && strings.IndexByte(reserved, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString(string([]byte{'%', hex[c>>4], hex[c&15]}))
		}
	}
	return b.String()
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// DecodePath undoes EncodePath; ok is false for what is malformed, or has a slash within a name.
func DecodePath(text string) (path string, ok bool) {
	names := strings.Split(text, "/")
	for i := range names {
		if names[i], ok = decode(names[i]); !ok || strings.Contains(names[i], "/") {
			return "", false
		}
	}
	return strings.Join(names, "/"), true
}

// EncodePath percent-encodes a path of slash-separated names as {+path} does, and ? and # too.
func EncodePath(path string) string {
	names := strings.Split(path, "/")
	for i := range names {
		names[i] = encode(names[i], false)
	}
	return strings.Join(names, "/")
}
