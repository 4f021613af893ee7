package uritemplate_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/uritemplate"
)

func TestSRV05TemplatesMatchBothWays(t *testing.T) {
	for _, c := range []struct {
		template, uri string
		values        [][]string // nil: no match
	}{
		{"users://{id}", "users://42", [][]string{{"42"}}},
		{"users://{id}", "users://", nil},
		{"users://{id}", "users://a/b", nil},
		{"users://{id}", "users://a%2Fb%20c", [][]string{{"a/b c"}}},
		{"users://{id}", "users://%zz", nil},
		{"users://{id}", "users://%ff", nil},
		{"users://{id}/profile", "users://42/profile", [][]string{{"42"}}},
		{"users://{id}/profile", "users://42/profil", nil},
		{"x://report-{id}.json", "x://report-a.json.json", [][]string{{"a.json"}}},
		{"x://report-{id}.json", "x://report-.json", nil},
		{"x://{user}/{+path}", "x://ann/a/b.txt", [][]string{{"ann"}, {"a/b.txt"}}},
		{"x://{user}/{+path}/raw", "x://ann/a/raw/raw", [][]string{{"ann"}, {"a/raw"}}},
		{"x://{user}/{+path}/raw", "x://ann/raw", nil},
		{"x://{owner}/{repo}", "x://a/b", [][]string{{"a"}, {"b"}}},
		{"q://find{?text,tag*}", "q://find", [][]string{nil, nil}},
		{"q://find{?text,tag*}", "q://find?text=a%20b&tag=x&tag=y", [][]string{{"a b"}, {"x", "y"}}},
		{"q://find{?text,tag*}", "q://find?text=a&text=b", nil},
		{"q://find{?text,tag*}", "q://find?other=a", nil},
		{"q://{+path}{?v}", "q://a/b?v=1", [][]string{{"a/b"}, {"1"}}},
		{"web://{+url}", "web://host/p?q=1#f", [][]string{{"host/p?q=1#f"}}},
	} {
		tmpl, err := uritemplate.Parse(c.template)
		if err != nil {
			t.Fatalf("%s: %v", c.template, err)
		}
		values, ok := tmpl.Match(c.uri)
		if ok != (c.values != nil) || ok && !reflect.DeepEqual(values, c.values) {
			t.Errorf("%s of %s: %q, %t, want %q", c.uri, c.template, values, ok, c.values)
		}
		if !ok {
			continue
		}
		if uri, err := tmpl.Expand(values); err != nil || uri != c.uri {
			t.Errorf("%s expands to %s (%v), want %s", c.template, uri, err, c.uri)
		}
	}
}

func TestSRV05TemplatesThatCanNotBeMatchedAreRefused(t *testing.T) {
	for template, want := range map[string]string{
		"x://{a}{b}":    "nothing tells where a ends and b begins: put a character such as / between them",
		"x://{a}-{b}":   "nothing tells where a ends and b begins: put a character such as / between them",
		"x://{+a}/{b}":  "nothing tells where {+a} ends: variables follow it: put {+a} behind the other variables",
		"x://{a,b}":     "{a,b} has several variables outside of a query: write {a},{b}",
		"x://{/a}":      "{/a} is a form that is not read: write /{a}",
		"x://{/a*}":     "{/a*} is a form that is not read: write {var}, {+path} or {?a,b*}",
		"x://a{#f}":     "{#f} is a form that is not read: write #{f}",
		"x://a{.ext}":   "{.ext} is a form that is not read: write .{ext}",
		"x://a{;p}":     "{;p} is a form that is not read: write {?p} at the end",
		"x://a{&p}":     "{&p} is a form that is not read: write {?p} at the end",
		"x://{a:3}":     "{a:3} is only the beginning of a value, which can not be matched: write {a}",
		"x://{a*}":      "{a*} is a list outside of a query: write {a}, or {?a*} at the end",
		"x://{a b}":     `"a b" can not be the name of a variable: use letters, digits and _`,
		"x://{a}/{a}":   "the variable a is there twice",
		"x://{a":        "{a is not closed",
		"x://a}":        "} closes nothing",
		"x://a b/{c}":   `"x://a b/" has a character that a URI can not have: write other characters as %20`,
		"{scheme}://a":  "a template has to begin with a scheme: begin with one, such as docs://",
		"x://a":         "the template has no variable: {var} is one",
		"x://a?b=1{?c}": "the query begins twice: write all of the query as {?…}",
		"x://a{?b}/c":   `"/c" follows the query: write {?…} at the end`,
		"x://a{?b}{?c}": "{?c} follows the query: write one {?…} at the end",
		"x://{}":        `"" can not be the name of a variable: use letters, digits and _`,
	} {
		_, err := uritemplate.Parse(template)
		if of := (*uritemplate.Error)(nil); !errors.As(err, &of) || err.Error() != want {
			t.Errorf("%s: %v, want %s", template, err, want)
		}
	}
}

func TestSRV05OverlapNamesAURI(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		overlap bool
	}{
		{"x://{a}", "x://{b}", true},
		{"x://{a}", "y://{b}", false},
		{"x://{a}", "x://{b}/c", false},
		{"x://{+a}", "x://{b}/c", true},
		{"x://users/{a}", "x://{b}/all", true},
		{"x://users/{a}", "x://groups/{a}", false},
		{"x://{a}.txt", "x://{b}.md", false},
		{"x://a-{a}", "x://{b}-b", true},
		{"x://{a}{?q}", "x://{b}", true},
		{"x://find{?q}", "x://find?q={q}", true},
		{"x://find{?q}", "x://found{?q}", false},
	} {
		a, b := parse(t, c.a), parse(t, c.b)
		for _, pair := range [][2]*uritemplate.Template{{a, b}, {b, a}} {
			uri, overlap := uritemplate.Overlap(pair[0], pair[1])
			if overlap != c.overlap {
				t.Errorf("%s and %s: %q, %t", pair[0], pair[1], uri, overlap)
			}
			_, ok1 := pair[0].Match(uri)
			_, ok2 := pair[1].Match(uri)
			if overlap && c.b != "x://find?q={q}" && !(ok1 && ok2) {
				t.Errorf("%s and %s do not both match %s", c.a, c.b, uri)
			}
		}
	}
}

func parse(t *testing.T, text string) *uritemplate.Template {
	t.Helper()
	tmpl, err := uritemplate.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}

// FuzzSRV05ExpandAndMatch: what a template expands to matches it with the same values.
func FuzzSRV05ExpandAndMatch(f *testing.F) {
	f.Add("x://{a}/{+b}{?c,d*}", "1", "2/3", "4")
	f.Add("x://r-{a}.json", "é", "", "")
	f.Fuzz(func(t *testing.T, text, one, two, three string) {
		tmpl, err := uritemplate.Parse(text)
		if err != nil {
			return
		}
		var values [][]string
		for i, v := range tmpl.Variables() {
			value := []string{one, two, three}[i%3]
			values = append(values, []string{value})
			if v.List {
				values[i] = append(values[i], value)
			}
		}
		query := slices.ContainsFunc(tmpl.Variables(), func(v uritemplate.Variable) bool { return v.Query })
		uri, err := tmpl.Expand(values)
		if err != nil || !valid(one, two, three) {
			return
		}
		got, ok := tmpl.Match(uri)
		if ok && reflect.DeepEqual(got, values) {
			return
		}
		if query && slices.ContainsFunc(tmpl.Variables(), func(v uritemplate.Variable) bool { return v.Reserved }) {
			return // {+path} may have had a question mark
		}
		t.Errorf("%s makes %s of %q, and %q of that", text, uri, values, got)
	})
}

func valid(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !utf8.ValidString(text) })
}
