package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// sources is a union of three forms that a member tells apart. The second names the member of the first without needing it.
type sources struct {
	union  check.Union
	forms  [3]check.Object
	lookup func(*check.Decoder) // what looks at an object before it is read, if anything does
	reads  int                  // how often a form was read
}

func newSources(keyword string) *sources {
	return &sources{
		union: check.Union{
			At: "#/" + keyword, Keyword: keyword, One: keyword == "oneOf", Members: check.Object{Names: []string{"inline", "path", "url"}},
			Forms: []check.Form{{Kinds: check.KindObject, Needs: 0b100}, {Kinds: check.KindObject, Needs: 0b10}, {Kinds: check.KindObject, Needs: 0b1}},
		},
		forms: [3]check.Object{
			{Names: []string{"note", "url"}, Required: []string{"url"}},
			{Names: []string{"note", "path", "url"}, Required: []string{"path"}},
			{Names: []string{"inline", "note"}, Required: []string{"inline"}},
		},
	}
}

var shortNote = check.String{Max: 5}

func (s *sources) decode(d *check.Decoder, v *string) { *v = check.Pick(d, &s.union, s.decodeForm) }

// decodeForm reads a form as its index and the names of its members.
func (s *sources) decodeForm(d *check.Decoder, form int) string {
	s.reads++
	if s.lookup != nil {
		s.lookup(d)
	}
	got := fmt.Sprint(form)
	for f := d.Object(&s.forms[form]); f >= 0; f = d.Next() {
		name := "other"
		if f != check.Other {
			name = s.forms[form].Names[f]
		}
		got += " " + name
		if name == "note" {
			d.String(&shortNote)
		} else {
			d.Raw(nil)
		}
	}
	return got
}

// told are objects, the form that fits, and how often a form is read: once where the first member that tells a form is right.
var told = []struct {
	text, anyOf, oneOf string
	reads              int
}{
	{`{"url":1}`, "0 url", "", 1},
	{`{ "inline" : 1, "note":"a" }`, "2 inline note", "", 1},
	{`{"note":"a","path":1}`, "1 note path", "", 1},
	{`{"more":1,"url":1}`, "0 other url", "", 1},
	{`{"url":1,"more":1,"note":"a"}`, "0 url other note", "", 1},
	{`{"path":1,"url":1}`, "0 other url", `it fits form 1 (with "url") and form 2 (with "path")`, 0},
	{`{"inline":1,"path":1}`, "1 other path", `it fits form 2 (with "path") and form 3 (with "inline")`, 0},
	{`{"inline":1,"\u0075rl":1}`, "0 other url", `it fits form 1 (with "url") and form 3 (with "inline")`, 0},
	{`{"inline":1,"url":1,"path":1,"note":"a"}`, "0 other url other note", `it fits form 1 (with "url") and form 2 (with "path")`, 0},
	{`{"path":1,"note":"too long"}`, "at most 5 characters", "", 0},
	{`{"note":"a"}`, `an object with "url", or with "path", or with "inline"`, "", 0},
	{`{"inline":1`, "',' or '}'", "", 0},
}

// TestVAL09AMemberTellsAFormUntilTheMembersOfAnotherCome reads each object alone, after others, and by a form that looks at it first.
func TestVAL09AMemberTellsAFormUntilTheMembersOfAnotherCome(t *testing.T) {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		looking := newSources(keyword)
		looking.lookup = func(d *check.Decoder) { d.Fits(func(d *check.Decoder) { d.EachMember(nil, (*check.Decoder).Skip) }) }
		used := newSources(keyword)
		for range 2 {
			for _, each := range told {
				want := each.anyOf
				if keyword == "oneOf" && each.oneOf != "" {
					want = each.oneOf
				}
				for _, s := range []*sources{newSources(keyword), used, looking} {
					s.reads = 0
					var got string
					if err := check.Decode([]byte(each.text), check.Limits{}, s.decode, &got); err != nil {
						got = err.Error()
					}
					if got != want && !strings.Contains(got, want) || each.reads > 0 && s.reads != each.reads {
						t.Errorf("%s of %s: %q, want %q; %d readings, want %d", keyword, each.text, got, want, s.reads, each.reads)
					}
				}
			}
		}
	}
}

// TestVAL09MembersMisleadATextFewTimes has many objects in which a member tells a form that is not the first that fits.
func TestVAL09MembersMisleadATextFewTimes(t *testing.T) {
	s := newSources("anyOf")
	text := "[" + strings.Repeat(`{"inline":1,"path":1},`, 100) + `{"url":1}]`
	var got []string
	if err := check.Decode([]byte(text), check.Limits{}, func(d *check.Decoder, v *[]string) { *v = check.List(d, nil, s.decode) }, &got); err != nil {
		t.Fatal(err)
	}
	if got[0] != "1 other path" || got[99] != got[0] || s.reads > 101+4 {
		t.Errorf("%q, %q: %d readings", got[0], got[99], s.reads)
	}
}
