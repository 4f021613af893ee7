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
