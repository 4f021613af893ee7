package check_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
)

// verdict says which keywords a decoder finds violated.
func verdict(t *testing.T, data string, decode func(*check.Decoder)) string {
	t.Helper()
	err := validate([]byte(data), check.Limits{}, func(d *check.Decoder, _ *int) { decode(d) })
	var all check.Violations
	if err != nil && !errors.As(err, &all) {
		return err.Error()
	}
	words := make([]string, len(all))
	for i := range all {
		words[i] = all[i].Keyword
	}
	return strings.Join(words, " ")
}

func TestVAL03RulesOfScalars(t *testing.T) {
	lengths := &check.String{Min: 2, Max: 3}
	empty := &check.String{Max: check.Zero}
	ints := &check.Int{Has: check.ExclusiveMinimum | check.Maximum, Min: 0, Max: 12, MultipleOf: 3}
	constInt := &check.Int{Enum: []int64{7}, Const: true}
	cents := &check.Number{MultipleOf: "0.01"}
	precise := &check.Number{Has: check.Minimum, Min: 0.1}
	huge := &check.Number{Has: check.Minimum, MinText: "1e400"}
	enum := &check.Number{Enum: []string{"1.50", "2e3"}}
	yes := &check.Values{JSON: []string{"true"}, Const: true}
	mixed := &check.Values{JSON: []string{`null`, `1`, `"é"`, `{"a":[1,2.0],"b":{}}`}}
	for _, c := range []struct {
		data, want string
		decode     func(*check.Decoder)
	}{
		{`"a"`, "minLength", func(d *check.Decoder) { d.String(lengths) }},
		{`"😀😀😀"`, "", func(d *check.Decoder) { d.String(lengths) }},
		{`"\ud83d\ude00\ud83d\ude00"`, "", func(d *check.Decoder) { d.String(lengths) }},
		{`"aaaa"`, "maxLength", func(d *check.Decoder) { d.String(lengths) }},
		{`"a"`, "maxLength", func(d *check.Decoder) { d.String(empty) }},
		{`""`, "", func(d *check.Decoder) { d.String(empty) }},
		{`0`, "exclusiveMinimum", func(d *check.Decoder) { d.Int(ints) }},
		{`-0.0`, "exclusiveMinimum", func(d *check.Decoder) { d.Int(ints) }},
		{`3`, "", func(d *check.Decoder) { d.Int(ints) }},
		{`0.3e1`, "", func(d *check.Decoder) { d.Int(ints) }},
		{`1.2e1`, "", func(d *check.Decoder) { d.Int(ints) }},
		{`13`, "maximum multipleOf", func(d *check.Decoder) { d.Int(ints) }},
		{`1.5`, "type", func(d *check.Decoder) { d.Int(ints) }},
		{`8`, "const", func(d *check.Decoder) { d.Int(constInt) }},
		{`9223372036854775807`, "", func(d *check.Decoder) { d.Int(nil) }},
		{`-9223372036854775808`, "", func(d *check.Decoder) { d.Int(nil) }},
		{`9223372036854775808`, "type", func(d *check.Decoder) { d.Int(nil) }},
		{`100000000000000000000000e-20`, "", func(d *check.Decoder) { d.Int(nil) }},
		{`19.99`, "", func(d *check.Decoder) { d.Float(cents) }},
		{`19.999`, "multipleOf", func(d *check.Decoder) { d.Float(cents) }},
		{`0.09999999999999999999999`, "minimum", func(d *check.Decoder) { d.Float(precise) }},
		{`0.1`, "", func(d *check.Decoder) { d.Float(precise) }},
		{`5`, "minimum", func(d *check.Decoder) { d.Float(huge) }},
		{`1e401`, "", func(d *check.Decoder) { d.Literal(huge) }},
		{`1.5`, "", func(d *check.Decoder) { d.Float(enum) }},
		{`2000`, "", func(d *check.Decoder) { d.Float(enum) }},
		{`2001`, "enum", func(d *check.Decoder) { d.Float(enum) }},
		{`1e309`, "type", func(d *check.Decoder) { d.Float(nil) }},
		{`1e309`, "", func(d *check.Decoder) { d.Literal(nil) }},
		{`true`, "", func(d *check.Decoder) { d.Bool(yes) }},
		{`false`, "const", func(d *check.Decoder) { d.Bool(yes) }},
		{`"true"`, "type", func(d *check.Decoder) { d.Bool(yes) }},
		{`1.0`, "", func(d *check.Decoder) { d.Raw(mixed) }},
		{`"\u00e9"`, "", func(d *check.Decoder) { d.Raw(mixed) }},
		{` { "b" : {} , "a" : [ 1e0, 2 ] } `, "", func(d *check.Decoder) { d.Raw(mixed) }},
		{`{"a":[2,1],"b":{}}`, "enum", func(d *check.Decoder) { d.Raw(mixed) }},
		{`false`, "enum", func(d *check.Decoder) { d.Raw(mixed) }},
	} {
		if got := verdict(t, c.data, c.decode); got != c.want {
			t.Errorf("%s: got %q, want %q", c.data, got, c.want)
		}
	}
}

// VAL02: the bounds in the message are those of float64: they are taken themselves, and what is refused is beyond them.
func TestVAL02TheRangeOfAFloatIsExact(t *testing.T) {
	for _, sign := range []string{"", "-"} {
		for text, fits := range map[string]bool{sign + "1.7976931348623157e308": true, sign + "1.799e308": false} {
			_, problems := lines(t, func(d *check.Decoder, v *float64) { *v = d.Float(nil) }, text)
			const limits = "a number between -1.7976931348623157e308 and 1.7976931348623157e308, which is the limit of this implementation"
			if fits != (problems == "") || !fits && !strings.Contains(problems, limits) {
				t.Errorf("%s: %q", text, problems)
			}
		}
	}
}

func TestVAL03RulesOfContainers(t *testing.T) {
	skip := func(d *check.Decoder, v *int) { d.Skip() }
	sized := &check.Object{Min: 1, Max: 2}
	none := &check.Array{Max: check.Zero}
	unique := &check.Array{Unique: true}
	for _, c := range []struct {
		data, want string
		decode     func(*check.Decoder)
	}{
		{`{}`, "minProperties", func(d *check.Decoder) { check.Map(d, sized, skip) }},
		{`{"a":1,"b":2,"c":3}`, "maxProperties", func(d *check.Decoder) { check.Map(d, sized, skip) }},
		{`[1]`, "maxItems", func(d *check.Decoder) { d.Raws(none) }},
		{`[]`, "", func(d *check.Decoder) { d.Raws(none) }},
		{`[1, 1.0]`, "uniqueItems", func(d *check.Decoder) { d.Raws(unique) }},
		{`[0, 1e-400, -1e-400, 0.1, 0.10000000000000000000001]`, "", func(d *check.Decoder) { d.Floats(unique, nil) }},
		{`[1e-400, 10e-401]`, "uniqueItems", func(d *check.Decoder) { d.Floats(unique, nil) }},
		{`[{"a":1,"b":2},{"b":2,"a":1e0}]`, "uniqueItems", func(d *check.Decoder) { d.Raws(unique) }},
		{`["a" ,"a"]`, "uniqueItems", func(d *check.Decoder) { d.Strings(unique, nil) }},
		{`["a","b","c" ]`, "", func(d *check.Decoder) { d.Strings(unique, nil) }},
		{`["a","\u0061"]`, "uniqueItems", func(d *check.Decoder) { d.Raws(unique) }},
		{`[1,"1",true,[1],{"1":1},null,[[1]],false,0]`, "", func(d *check.Decoder) { d.Raws(unique) }},
		{`[true,false]`, "", func(d *check.Decoder) { d.Bools(unique) }},
		{`[1.5,2,1.50]`, "uniqueItems", func(d *check.Decoder) { d.Floats(unique, nil) }},
	} {
		if got := verdict(t, c.data, c.decode); got != c.want {
			t.Errorf("%s: got %q, want %q", c.data, got, c.want)
		}
	}
}

func TestVAL03TrialsAreExact(t *testing.T) {
	long := check.String{At: "#/x/anyOf/0", Min: 3}
	a := check.String{At: "#/x/anyOf/1", Pattern: &format.Pattern{Source: "a"}}
	read := func(d *check.Decoder, form int) string { return d.String([]*check.String{&long, &a}[form]) }
	run := func(u *check.Union) func(*check.Decoder) {
		u.Forms = make([]check.Form, 2)
		return func(d *check.Decoder) {
			d.Group(u, func(d *check.Decoder) { read(d, 0) }, func(d *check.Decoder) { read(d, 1) })
			check.Pick(d, u, read)
		}
	}
	anyOf, oneOf := run(&check.Union{At: "#/x", Keyword: "anyOf"}), run(&check.Union{At: "#/x", Keyword: "oneOf", One: true})
	not := func(d *check.Decoder) {
		d.Not(&check.Not{At: "#/x"}, func(d *check.Decoder) { anyOf(d) })
		d.Skip()
	}
	for _, c := range []struct{ data, anyOf, oneOf, not string }{
		{`"abc"`, "", "oneOf", "not"},
		{`"xyz"`, "", "", "not"},
		{`"a"`, "", "", "not"},
		{`"x"`, "anyOf minLength", "oneOf minLength", ""},
		{`7`, "anyOf type", "oneOf type", ""},
	} {
		for got, want := range map[string]string{
			"any " + verdict(t, c.data, anyOf): "any " + c.anyOf,
			"one " + verdict(t, c.data, oneOf): "one " + c.oneOf,
			"not " + verdict(t, c.data, not):   "not " + c.not,
		} {
			if got != want {
				t.Errorf("%s: got %q, want %q", c.data, got, want)
			}
		}
	}
}

func TestMoreThan64Properties(t *testing.T) {
	rule := check.Object{AdditionalProperties: check.Refuse, Required: []string{"p0", "p127", "p128"}}
	var b strings.Builder
	for i := range 130 {
		rule.Names = append(rule.Names, "p"+strconv.Itoa(i))
		b.WriteString(`,"p` + strconv.Itoa(129-i) + `":0`)
	}
	decode := func(d *check.Decoder) {
		seen := map[int]bool{}
		for f := d.Object(&rule); f >= 0; f = d.Next() {
			seen[f] = true
			d.Skip()
		}
	}
	all := b.String()[1:]
	for data, want := range map[string]string{
		all:                                      "",
		all + `,"p100":1`:                        "duplicate",
		strings.Replace(all, `"p128"`, `"x"`, 1): "required additionalProperties",
		strings.Replace(all, `"p127":0,`, ``, 1): "required",
		`"p1":1`:                                 "required required required",
	} {
		if got := verdict(t, "{"+data+"}", decode); got != want {
			t.Errorf("%.40s…: got %q, want %q", data, got, want)
		}
	}
}

func TestAppendersWriteWhatEncodingJSONWrites(t *testing.T) {
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1.5, 0.1, 1e20, 1e21, 1.5e-6, 1e-7, 123456789.125, math.MaxFloat64, math.SmallestNonzeroFloat64, 1e100} {
		want, err := json.Marshal(f)
		if got := check.AppendFloat(nil, f); err != nil || string(got) != string(want) {
			t.Errorf("%v: got %s, want %s", f, got, want)
		}
	}
	if got := string(check.AppendFloat(nil, math.NaN())); got != "null" {
		t.Errorf("NaN: got %s", got)
	}
}

// FuzzPatternAgreesWithRegexp: the table and the package regexp give one answer to what ECMA-262 means.
func FuzzPatternAgreesWithRegexp(f *testing.F) {
	for _, s := range [][2]string{{"^[A-Z]{1,8}$", "ACME"}, {"a|b$", "xab"}, {"", ""}, {"^$", ""}, {"^(foo|bar)-\\d+$", "foo-12"}, {"(?i)k", "\u212a"}, {"a.c", "a\nc"}, {"(?s)a.c", "a\nc"},
		{"^a?$|b", "c"}, {"\\bx", "a x"}, {"(?m)^a$", "b\na"}, {"[^a]$", "aé"}, {"(a*)*b", "aaaa"}, {"x{3,}y", "xxxxy"}, {"$^", ""}, {"a$b|^", "z"}, {"\\pL+", "é"}, {"$\\b", "a bx"}, {"^\\B$", ""}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		re, err := pattern.Compile(source)
		if err != nil || len(source) > 60 {
			return
		}
		p := format.Pattern{Source: source}
		if got, want := p.Match(text), re.MatchString(text); got != want {
			t.Errorf("%q on %q: got %v, want %v", source, text, got, want)
		}
	})
}

// FuzzEqualityAgreesWithEncodingJSON: canonical forms are equal exactly when the values are.
func FuzzEqualityAgreesWithEncodingJSON(f *testing.F) {
	f.Add(`{"a":1,"b":[true,null]}`, `{"b":[true,null],"a":1.0}`)
	f.Add(`"a\u0062"`, `"ab"`)
	f.Add(`[1,2]`, `[2,1]`)
	f.Add(`{}`, `[]`)
	f.Add(`0E11111`, `0`)
	f.Add(`1E00000`, `1`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if check.Valid([]byte(a), check.Limits{}) != nil || check.Valid([]byte(b), check.Limits{}) != nil || len(a)+len(b) > 200 {
			return
		}
		rule := check.Values{JSON: []string{a}}
		err := validate([]byte(b), check.Limits{}, func(d *check.Decoder, _ *int) { d.Raw(&rule) })
		var all check.Violations
		if err != nil && !errors.As(err, &all) {
			return // an exponent too large
		}
		if want := same(decodeAny(a), decodeAny(b)); (err == nil) != want {
			t.Errorf("%s and %s: got %v, want equal %v", a, b, err, want)
		}
	})
}

func decodeAny(s string) (v any) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

func same(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		if !ok {
			return false
		}
		x, ok1 := exact(string(a))
		y, ok2 := exact(string(b))
		return ok1 && ok2 && x.Cmp(y) == 0 || a == b
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			w, ok := b[k]
			if !ok || !same(v, w) {
				return false
			}
		}
		return true
	default:
		return a == b
	}
}

func TestVAL01EncodedOutputsAreChecked(t *testing.T) {
	good := OrderInput{Symbol: "ACME", Side: SideBuy, Quantity: 1, Note: check.Some("n")}
	if err := validate(appendOrderInput(nil, &good), check.Limits{}, decodeOrderInput); err != nil {
		t.Error(err)
	}
	bad := OrderInput{Symbol: "ACME", Side: "hold", Quantity: 0, Limit: check.Some(math.NaN())}
	err := validate(appendOrderInput(nil, &bad), check.Limits{}, decodeOrderInput)
	var all check.Violations
	if !errors.As(err, &all) || len(all) != 3 {
		t.Errorf("got %v, want violations of side, quantity and limit", err)
	}
}

// A backtracking matcher would not come back from this.
func TestVAL07PatternsRunInLinearTime(t *testing.T) {
	text := strings.Repeat("a", 100_000)
	for _, source := range []string{"^(a+)+$", `^(a|aa)+$`, `(x+x+)+y|^(a|a)*é?$`} {
		p := format.Pattern{Source: source}
		if p.Match(text+"!") || !p.Match(text) {
			t.Errorf("%s: wrong", source)
		}
	}
}

// TestVAL07ListsTakeTheRoomThatTheyNeed: a long list about what it needs, a short one no more than doubling gives, however long
// the text around it is.
func TestVAL07ListsTakeTheRoomThatTheyNeed(t *testing.T) {
	const lists = 10_000
	text := "[" + strings.Repeat("[1,2,3,4,5],", lists-1) + "[1,2,3,4,5]]"
	var all [][]int64
	decode := func(d *check.Decoder, v *[][]int64) {
		*v = check.List(d, nil, func(d *check.Decoder, v *[]int64) { *v = d.Ints(nil, nil) })
	}
	if err := check.Decode([]byte(text), check.Limits{}, decode, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != lists || cap(all) > lists*5/4 {
		t.Errorf("%d lists have room for %d", len(all), cap(all))
	}
	for i, list := range all {
		if !slices.Equal(list, []int64{1, 2, 3, 4, 5}) || i < lists*9/10 && cap(list) > 8 {
			t.Fatalf("list %d is %v, with room for %d", i, list, cap(list))
		}
	}
}

func TestCAN05IntegerDigits(t *testing.T) {
	for _, test := range []struct {
		text, digits    string
		number, integer bool
	}{
		{"7", "7", true, true}, {"-7", "-7", true, true}, {"0", "0", true, true}, {"-0.00e9", "0", true, true}, {"1.50e2", "150", true, true},
		{"12000e-3", "12", true, true}, {"0.001e4", "10", true, true}, {"-1E+3", "-1000", true, true}, {"1e9", "1000000000", true, true},
		{"1e10", "", true, true}, {"1e999999999999", "", true, true}, {"1.5", "", true, false}, {"1e-999999999999", "", true, false},
		{"15e-1", "", true, false}, {"", "", false, false}, {"01", "", false, false}, {"1.", "", false, false}, {"1e", "", false, false},
		{" 1", "", false, false}, {"1 ", "", false, false}, {"null", "", false, false}, {`"1"`, "", false, false}, {"-", "", false, false},
	} {
		digits, number, integer := check.IntegerDigits([]byte(test.text), 10)
		if string(digits) != test.digits || number != test.number || integer != test.integer {
			t.Errorf("%q: %q, a number: %v, an integer: %v", test.text, digits, number, integer)
		}
	}
}

func TestSameNumber(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"1", "1.0", true}, {"1e2", "100", true}, {"-0", "0", true}, {"0.10", "1E-1", true}, {"-1", "1", false},
		{"9007199254740993", "9007199254740992", false}, {"1e400", "10e399", true}, {"1e400", "1e401", false},
		{"1 ", "1", false}, {" 1", "1", false}, {"01", "1", false}, {"", "", false}, {"-", "-", false}, {"1e", "1e", false}, {"1 2", "1 2", false},
		{`"1"`, `"1"`, false}, {"1e99999999999", "1e99999999999", false},
	} {
		if got := check.SameNumber(test.a, test.b); got != test.want {
			t.Errorf("%q and %q: %t, want %t", test.a, test.b, got, test.want)
		}
	}
}
