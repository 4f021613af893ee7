package check

import (
	"cmp"
	"strconv"
	"strings"
)

// hiddenValue is what is found where the value is for the handler alone.
const hiddenValue = "a value that is not shown"

// Hide keeps the values of some properties, and what is in them, out of violations: of all with these names, wherever they are. Each name is
// written as a step of a JSON Pointer: "/password/api~1key". It holds until Put or Reset. Of other values numbers, booleans and null are shown: an
// object, an array or a string may hold a value of these properties, and violations say only which of them was found.
func (d *Decoder) Hide(names string) { d.hidden = names }

// Hiding is decode with Hide for these names, for a message that has no other place to say so.
func Hiding[T any](names string, decode func(d *Decoder, v *T)) func(d *Decoder, v *T) {
	return func(d *Decoder, v *T) {
		d.Hide(names)
		decode(d, v)
	}
}

// ofHidden is why a rule holds where the words for it tell what must not be shown.
const ofHidden = "of a value that is not shown"

// Hidden is v without the values of some properties, as Hide has it, for violations that somebody else found. As with Hide, no
// object, array or string that was found is shown.
func (v Violations) Hidden(names string) Violations {
	if names == "" {
		return v
	}
	var d Decoder
	d.hidden = names
	for i := range v {
		d.hide(&v[i])
		if v[i].Found = cmp.Or(mayHold(v[i].Found), v[i].Found); v[i].Found != hiddenValue {
			continue
		}
		v[i].Allowed = "what its schema allows"
		if v[i].Because != "" {
			v[i].Because = ofHidden
		}
	}
	return v
}

// hide takes what must not be shown out of a violation: the value, and the way to it below the property. A not that is broken tells
// the value by the schema's own, as does the condition of an if, see explain.
func (d *Decoder) hide(v *Violation) {
	below := d.hideValue(v)
	if v.Keyword == "not" && (below || d.tells(v.Allowed)) {
		v.Allowed = notUnder
	}
}

// hideValue hides the value of v if v is about a hidden property, or about what is in one, and reports whether it did.
func (d *Decoder) hideValue(v *Violation) bool {
	for at := 0; at < len(v.Instance); {
		end := len(v.Instance)
		if next := strings.IndexByte(v.Instance[at+1:], '/'); next >= 0 {
			end = at + 1 + next
		}
		if strings.Contains(d.hidden+"/", v.Instance[at:end]+"/") {
			v.Instance = v.Instance[:end]
			if v.Found != nothing && v.Found != unwanted {
				v.Found = hiddenValue
			}
			return true
		}
		at = end
	}
	return false
}

// tells reports whether words say of a hidden property more than that it is there.
func (d *Decoder) tells(words string) bool {
	if words == "" || d.hidden == "" {
		return false
	}
	for step := range strings.SplitSeq(d.hidden[1:], "/") {
		name := strconv.Quote(strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~"))
		if words != name+isThere && strings.Contains(words, name) {
			return true
		}
	}
	return false
}
