package check

import "testing"

// newPathOrURL is a union of two forms.
func newPathOrURL() *Union {
	return &Union{Keyword: "oneOf", One: true, Members: Object{Names: []string{"path", "url"}}, Forms: []Form{{Needs: 0b10}, {Needs: 0b01}}}
}

// TestVAL09AFormIsTheOnlyOneByTheFrameOfItsOwnText: a form that is read as text leaves no frame in a text that was scanned before, but the decoder
// still has that of an earlier text, which began at the same place and had no other members.
func TestVAL09AFormIsTheOnlyOneByTheFrameOfItsOwnText(t *testing.T) {
	u := newPathOrURL()
	url := Object{Names: []string{"url"}}
	var d Decoder
	for _, each := range []struct {
		text         string
		asText, fits bool
	}{{`{"url":1}`, false, true}, {`{"url":1}`, false, true}, {`{"url":1,"path":1}`, true, false}, {`{"url":1}`, true, true}} {
		d.Reset([]byte(each.text), Limits{})
		d.scanned = true
		Pick(&d, u, func(d *Decoder, form int) (none struct{}) {
			if each.asText {
				d.Raw(nil)
				return none
			}
			d.EachMember(&url, (*Decoder).Skip)
			return none
		})
		if err := d.Finish(); (err == nil) != each.fits {
			t.Errorf("%s: %v", each.text, err)
		}
	}
}

// TestVAL09ObjectsWithOtherMembersAreLookedAtFirst: after a few objects that have members which their form does not name, members tell no form early.
func TestVAL09ObjectsWithOtherMembersAreLookedAtFirst(t *testing.T) {
	for text, want := range map[string]int{
		`[{"url":1},{"url":1},{"url":1},{"url":1},{"url":1},{"url":1}]`:                                     0,
		`[{"url":1},{"url":1,"a":1},{"url":1,"a":1}]`:                                                       2,
		`[{"url":1,"a":1},{"url":1,"a":1},{"url":1,"a":1},{"url":1,"a":1},{"url":1,"a":1},{"url":1,"a":1}]`: mostMisled,
	} {
		u, url := newPathOrURL(), Object{Names: []string{"url"}}
		var d Decoder
		d.Reset([]byte(text), Limits{})
		List(&d, nil, func(d *Decoder, none *struct{}) {
			*none = Pick(d, u, func(d *Decoder, _ int) (none struct{}) {
				d.EachMember(&url, (*Decoder).Skip)
				return none
			})
		})
		if err := d.Finish(); err != nil || d.misled != want {
			t.Errorf("%s: misled %d times, want %d: %v", text, d.misled, want, err)
		}
	}
}

// Of an anyOf the first form that fits is taken, also where an attempt at it has not read all, because a part is known already.
func TestVAL05AnAttemptTakesNoLaterForm(t *testing.T) {
	part := &Union{Keyword: "anyOf", Forms: []Form{{Kinds: KindString}, {Kinds: KindString}}}
	of := &Union{Keyword: "anyOf", Forms: []Form{{Kinds: KindObject}, {Kinds: KindObject}}}
	short := String{Max: 3}
	p := Object{Names: []string{"p"}}
	also := func(d *Decoder) {
		for f := d.Object(&p); f >= 0; f = d.Next() {
			d.Choose(part, func(d *Decoder) { d.Text(&short) }, func(d *Decoder) { d.Text(nil) })
		}
	}
	var got string
	err := Decode([]byte(`{"p":"hello"}`), Limits{}, func(d *Decoder, v *string) {
		*v = Pick(d, of, func(d *Decoder, form int) string {
			if form == 0 {
				d.Also(also)
			}
			text := ""
			for f := d.Object(&p); f >= 0; f = d.Next() {
				if form == 1 {
					text = d.String(nil)
					continue
				}
				text = Pick(d, part, func(d *Decoder, form int) string {
					if form == 0 {
						return "short " + d.String(&short)
					}
					return d.String(nil)
				})
			}
			return []string{"first ", "second "}[form] + text
		})
	}, &got)
	if err != nil || got != "first hello" {
		t.Errorf("%q, %v", got, err)
	}
}

// A look that stopped within an object says nothing of its other members.
func TestVAL05AnAttemptTrustsNoFrameThatDidNotEnd(t *testing.T) {
	u := newPathOrURL()
	url := Object{Names: []string{"url"}}
	var d Decoder
	for _, text := range []string{`{"url":"a"}`, `{"url":1}`, `{"url":1,"path":1}`, `{"path":1,"url":1}`} {
		d.Reset([]byte(text), Limits{})
		d.scanned = true
		Pick(&d, u, func(d *Decoder, form int) (none struct{}) {
			if form == 0 {
				d.If(nil, func(d *Decoder) {
					for f := d.Object(&url); f >= 0; f = d.Next() {
						d.Text(nil)
					}
				}, (func(d *Decoder))(nil), nil)
			}
			d.Raw(nil)
			return none
		})
		if err, both := d.Finish(), len(text) > 14; (err == nil) == both {
			t.Errorf("%s: %v", text, err)
		}
	}
}
