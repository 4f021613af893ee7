package check

import (
	"strings"
	"testing"
)

// What Hide names is in no violation: neither the value, nor what is in it, nor an object around it.
func TestVAL02HiddenValuesAreInNoViolation(t *testing.T) {
	account := &Object{Names: []string{"password", "user"}, AdditionalProperties: Refuse}
	secret := &Object{Names: []string{"pin"}, Required: []string{"pin"}, AdditionalProperties: Refuse}
	read := func(d *Decoder, _ *struct{}) {
		d.Hide("/a~1b/password")
		d.Not(&Not{At: "#", Allowed: "an object without them"}, func(d *Decoder) { d.Skip() })
		for f := d.Object(account); f >= 0; f = d.Next() {
			switch f {
			case 0:
				for f := d.Object(secret); f >= 0; f = d.Next() {
					d.Int(&Int{Has: Maximum, Max: 9})
				}
			case 1:
				for more := d.Array(&Array{Unique: true}); more; more = d.Item() {
					d.Skip()
				}
			}
		}
	}
	for text, want := range map[string]string{
		`{"password":"hunter2"}`:                                   `/password`,
		`{"password":{"hunter2":1}}`:                               `/password`,
		`{"password":{"pin":12345678}}`:                            `/password`,
		`{"user":[{"password":"hunter2"},{"password":"hunter2"}]}`: `/user`,
	} {
		err := Decode([]byte(text), Limits{}, read, &struct{}{})
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "12345678") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// VAL02: models write objects and lists as strings. Whatever a string is found in place of, and where a union takes strings, what is hidden
// may be in it.
func TestVAL02AStringMayHoldAHiddenValue(t *testing.T) {
	object := &Object{Names: []string{"password"}, AdditionalProperties: Refuse}
	reads := map[string]func(d *Decoder){
		"a string, allowed: an object": func(d *Decoder) { d.Object(object) },
		"a string, allowed: an array":  func(d *Decoder) { d.Array(&Array{}) },
		"a string, allowed: at most 3": func(d *Decoder) { d.String(&String{Max: 3}) },
		"a string, allowed: one of":    func(d *Decoder) { d.Enum(&Enum{Values: []string{"a", "b"}}) },
		"a string, allowed: an int":    func(d *Decoder) { d.Int(nil) },
	}
	for _, text := range []string{`"{\"password\":\"hunter2\"}"`, `"[{'password': 'hunter2'}]"`, `"hunter2"`, `"\u0068unter2"`} {
		for want, read := range reads {
			err := Decode([]byte(text), Limits{}, func(d *Decoder, _ *struct{}) {
				d.Hide("/password")
				read(d)
			}, &struct{}{})
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "unter2") {
				t.Errorf("%s in place of %s: %v", text, want, err)
			}
		}
		v := Violations{{Instance: "/o", Keyword: "type", Found: text, Allowed: "an object"}}.Hidden("/password")
		if v[0].Found != "a string" || v[0].Allowed != "an object" {
			t.Error(v)
		}
	}
}

// A schema that says what a hidden property must not be, or what follows from what it is, does not tell its value by that.
func TestVAL02HiddenValuesAreNotToldByTheSchema(t *testing.T) {
	for why, shown := range map[string]bool{
		`"user" is there and "password" is "hunter2"`:   false,
		`"a/b" is missing or is "hunter2"`:              false,
		`"a/b" is there and is not "hunter2"`:           false,
		`"password" is there`:                           true,
		`"user" is "hunter2", whatever a password says`: true,
	} {
		err := Decode([]byte(`{}`), Limits{}, func(d *Decoder, _ *struct{}) {
			d.Hide("/a~1b/password")
			d.If(&Because{Then: why}, func(d *Decoder) { d.Skip() }, func(d *Decoder) { d.Int(nil) }, nil)
		}, &struct{}{})
		if err == nil || !strings.Contains(err.Error(), ", because ") || strings.Contains(err.Error(), "because "+why) != shown || !shown && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", why, err)
		}
	}
	d := &Decoder{}
	d.Hide("/a~1b/password")
	for _, v := range []Violation{
		{Instance: "/password", Keyword: "not", Found: `"hunter2"`, Allowed: `anything but "hunter2"`},
		{Instance: "", Keyword: "not", Found: "an object", Allowed: `an object in which "password" is not "hunter2"`},
	} {
		if d.hide(&v); strings.Contains(v.Error(), "hunter2") {
			t.Error(v)
		}
	}
}
