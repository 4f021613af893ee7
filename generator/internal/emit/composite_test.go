package emit

import (
	"bytes"
	gofmt "go/format"
	"slices"
	"strings"
	"testing"
)

func TestCompositesFillLines(t *testing.T) {
	words := func(field string, n int) composite {
		c := composite{field: field, text: "[]string", items: []composite{}}
		for range n {
			c.items = append(c.items, composite{text: `"123456789012345678"`})
		}
		return c
	}
	for _, row := range []struct {
		name string
		of   composite
		want string
	}{
		{"one line", composite{text: "T", items: []composite{words("A", 2)}}, `T{A: []string{"123456789012345678", "123456789012345678"}}`},
		{"none", composite{text: "T", items: []composite{}}, `T{}`},
		{"as many on a line as fit", words("", 8), `[]string{
"123456789012345678", "123456789012345678", "123456789012345678", "123456789012345678", "123456789012345678", "123456789012345678",
"123456789012345678", "123456789012345678",
}`},
		{"the last goes on", composite{text: "T", items: []composite{{field: "A", text: "1"}, words("B", 7)}}, `T{A: 1, B: []string{
"123456789012345678", "123456789012345678", "123456789012345678", "123456789012345678", "123456789012345678", "123456789012345678",
"123456789012345678",
}}`},
		{"one of several lines stands alone", composite{text: "T", items: []composite{{field: "A", text: "1"}, words("B", 7), {field: "C", text: "2"}}}, `T{
A: 1,
B: []string{
"123456789012345678", "123456789012345678", "123456789012345678", "123456789012345678", "123456789012345678", "123456789012345678",
"123456789012345678",
},
C: 2,
}`},
	} {
		if got := row.of.render(0, 0); got != row.want {
			t.Errorf("%s:\n%s\nwant\n%s", row.name, got, row.want)
		}
	}
}

// What is written line by line is what gofmt makes of it: values of neighbours are aligned, up to a line of several fields.
func TestCompositesAreAsGofmtLeavesThem(t *testing.T) {
	long := strings.Repeat("long", 20)
	list := func(field string, words int) composite { return texts(field, slices.Repeat([]string{long}, words)) }
	one := func(field string) composite { return quotedField(field, "1") }
	for name, c := range map[string]composite{
		"rows":                     {text: "T", table: true, items: []composite{{text: "{}"}, {text: "{}"}}},
		"no rows":                  {text: "T", table: true, items: []composite{}},
		"fields":                   {text: "T", table: true, items: []composite{one("A"), one("Longer"), one("B")}},
		"around several lines":     {text: "T", table: true, items: []composite{one("A"), one("Longer"), list("Longest", 2), one("B"), one("Long")}},
		"a line of several":        {text: "T", items: []composite{list("A", 1), list("Longer", 1), one("B"), one("C"), list("Long", 1), list("D", 1), list("E", 1)}},
		"within the last":          {text: "T", items: []composite{one("A"), {field: "B", text: "[]T", items: []composite{{items: []composite{list("A", 2), list("Longer", 1), list("B", 1)}}}}}},
		"a chain of calls":         {text: "T", table: true, items: []composite{one("A"), {field: "Call", text: "func() {\nf().\ng().\nh()\ni()\n}"}, one("Longer")}},
		"a condition in the chain": {text: "T", table: true, items: []composite{{field: "Call", text: "func() {\nif f() {\ng().\nh()\n}\ni()\n}"}}},
	} {
		s := sized(0)
		s.line("package p")
		s.line()
		s.block("var v = " + c.render(0, 0))
		if formatted, err := gofmt.Source(s.b); err != nil || !bytes.Equal(formatted, s.b) {
			t.Errorf("%s: %v\n%s\nas gofmt writes it\n%s", name, err, s.b, formatted)
		}
	}
}
