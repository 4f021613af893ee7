package emit

import "testing"

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
