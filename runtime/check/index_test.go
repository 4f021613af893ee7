package check_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// manyForms is a oneOf of n objects, each with a member of its own that it requires.
func manyForms(n int) (u *check.Union, forms []func(*check.Decoder)) {
	u = &check.Union{Keyword: "oneOf", One: true}
	for i := range n {
		u.Members.Names = append(u.Members.Names, fmt.Sprintf("k%04d", i))
		f := check.Form{Kinds: check.KindObject}
		if i < 64 {
			f.Needs = 1 << i
		} else {
			f.More = []int{i}
		}
		u.Forms = append(u.Forms, f)
		object := &check.Object{Names: []string{u.Members.Names[i]}, Required: []string{u.Members.Names[i]}, AdditionalProperties: check.Skip}
		forms = append(forms, func(d *check.Decoder) {
			for f := d.Object(object); f >= 0; f = d.Next() {
				d.Int(nil)
			}
		})
	}
	return u, forms
}

func checkChosen(text string, u *check.Union, forms []func(*check.Decoder)) error {
	return validate([]byte(text), check.Limits{}, func(d *check.Decoder, _ *struct{}) { d.Choose(u, forms...) })
}

// What more than 64 forms require decides between them as it does between a few, and is named in what is said.
func TestVAL09MoreThan64Forms(t *testing.T) {
	u, forms := manyForms(200)
	for _, c := range []struct {
		text, want string
	}{
		{`{"k0000":1}`, ""}, {`{"k0063":1}`, ""}, {`{"k0064":1}`, ""}, {`{"k0199":1,"other":2}`, ""},
		{`{"k0199":"x"}`, `/k0199: type: found "x", allowed: an integer`},
		{`{"k0063":1,"k0064":2}`, `form 64 (with "k0063") and form 65 (with "k0064"): leave out "k0063" or "k0064"`},
		{`{"k0100":1,"k0150":2}`, `leave out "k0100" or "k0150"`},
		{`{"x":1}`, `an object with "k0000", or with "k0001", or with`},
	} {
		err := checkChosen(c.text, u, forms)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
		if err != nil && len(err.Error()) > 5000 {
			t.Errorf("%s: %d bytes are said", c.text, len(err.Error()))
		}
	}
}

// A list of objects of many forms is judged within the evaluations that a text of its size has.
func TestVAL09ManyFormsAreNotTriedOneByOne(t *testing.T) {
	u, forms := manyForms(2000)
	text := "[" + strings.TrimSuffix(strings.Repeat(`{"k1999":1},`, 5000), ",") + "]"
	err := validate([]byte(text), check.Limits{}, func(d *check.Decoder, _ *struct{}) {
		for more := d.Array(&check.Array{}); more; more = d.Item() {
			d.Choose(u, forms...)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// Tags of many forms: one that a form has alone, one that two share, one that none has, and a form without.
func TestVAL09TagsOfManyForms(t *testing.T) {
	u := &check.Union{Keyword: "anyOf", Key: "t"}
	var forms []func(*check.Decoder)
	for i := range 100 {
		u.Forms = append(u.Forms, check.Form{Kinds: check.KindObject, Tags: []string{"tag" + strconv.Itoa(i), "tag" + strconv.Itoa(i), "shared" + strconv.Itoa(i/2)}})
		object := &check.Object{Names: []string{"v"}, AdditionalProperties: check.Skip}
		limit := &check.Int{Has: check.Minimum, Min: int64(i)}
		forms = append(forms, func(d *check.Decoder) {
			for f := d.Object(object); f >= 0; f = d.Next() {
				d.Int(limit)
			}
		})
	}
	run := func(want map[string]string) {
		t.Helper()
		for text, keyword := range want {
			got := verdict(t, text, func(d *check.Decoder) { d.Choose(u, forms...) })
			if got != keyword {
				t.Errorf("%s: %q, want %q", text, got, keyword)
			}
		}
	}
	run(map[string]string{
		`{"t":"tag99","v":99}`: "", `{"t":"tag99","v":98}`: "minimum", `{"t":"shared49","v":98}`: "", `{"t":"shared49","v":97}`: "anyOf minimum",
		`{"t":"none","v":200}`: "anyOf", `{"v":200}`: "anyOf", `{"t":5}`: "anyOf", `[]`: "anyOf",
	})
	u = &check.Union{Keyword: "anyOf", Key: "t", Forms: append(slices.Clone(u.Forms), check.Form{Kinds: check.KindObject})}
	forms = append(forms, func(d *check.Decoder) { d.Skip() })
	run(map[string]string{`{"t":"none"}`: "", `{"t":"tag99","v":98}`: "", `{}`: ""})
}

// A value of a long list is found however it is written, and a violation of it lists no more than a reader can take.
func TestVAL09LongEnums(t *testing.T) {
	words, ints, numbers := &check.Enum{}, &check.Int{}, &check.Number{}
	for i := range 3000 {
		words.Values = append(words.Values, "v"+strconv.Itoa(i))
		ints.Enum = append(ints.Enum, int64(i))
		numbers.Enum = append(numbers.Enum, strconv.Itoa(i)+".50")
	}
	for _, c := range []struct {
		text, want string
		read       func(*check.Decoder)
	}{
		{`"v0"`, "", func(d *check.Decoder) { d.Enum(words) }},
		{`"v\u0032999"`, "", func(d *check.Decoder) { d.Enum(words) }},
		{`"v3000"`, "enum", func(d *check.Decoder) { d.Enum(words) }},
		{`2999`, "", func(d *check.Decoder) { d.Int(ints) }},
		{`29.99e2`, "", func(d *check.Decoder) { d.Int(ints) }},
		{`-0`, "", func(d *check.Decoder) { d.Int(ints) }},
		{`3000`, "enum", func(d *check.Decoder) { d.Int(ints) }},
		{`2999.5`, "", func(d *check.Decoder) { d.Float(numbers) }},
		{`29995e-1`, "", func(d *check.Decoder) { d.Float(numbers) }},
		{`0.5000`, "", func(d *check.Decoder) { d.Literal(numbers) }},
		{`2999.50000000000000000001`, "enum", func(d *check.Decoder) { d.Float(numbers) }},
		{`-0.5`, "enum", func(d *check.Decoder) { d.Literal(numbers) }},
	} {
		err := validate([]byte(c.text), check.Limits{}, func(d *check.Decoder, _ *struct{}) { c.read(d) })
		var all check.Violations
		switch errors.As(err, &all); {
		case (err != nil) != (c.want != ""), err != nil && (len(all) != 1 || all[0].Keyword != c.want):
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		case err != nil && (len(all[0].Allowed) > 4200 || !strings.Contains(all[0].Allowed, "(3000 in all)")):
			t.Errorf("%s: it says %d bytes: %.80s", c.text, len(all[0].Allowed), all[0].Allowed)
		}
	}
}
