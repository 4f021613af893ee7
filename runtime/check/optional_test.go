package check

import (
	"encoding/json"
	"reflect"
	"strconv"
	"testing"
)

// TestVAL12PresenceSurvivesEncodingJSON: absent, null and a value are three things for encoding/json, too.
func TestVAL12PresenceSurvivesEncodingJSON(t *testing.T) {
	type record struct {
		Maybe    Optional[string]    `json:"maybe,omitzero"`
		Required Optional[int64]     `json:"required"`
		Three    Nullable[float64]   `json:"three,omitzero"`
		Pointer  Nullable[*[]string] `json:"pointer,omitzero"`
	}
	for want, v := range map[string]record{
		`{"required":null}`: {},
		`{"maybe":"","required":0,"three":0,"pointer":["<"]}`:                {Some(""), Some[int64](0), Nullable[float64]{Optional: Some(0.)}, Nullable[*[]string]{Optional: Some(&[]string{"<"})}},
		`{"required":null,"three":null,"pointer":null}`:                      {Three: Null[float64](), Pointer: Null[*[]string]()},
		`{"maybe":"a","required":9007199254740993,"three":1.5,"pointer":[]}`: {Some("a"), Some[int64](1<<53 + 1), Nullable[float64]{Optional: Some(1.5)}, Nullable[*[]string]{Optional: Some(&[]string{})}},
	} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var back record
		if err := json.Unmarshal([]byte(want), &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, v) {
			t.Errorf("%s is read back as %+v, want %+v", want, back, v)
		}
		var got, wanted any
		if json.Unmarshal(b, &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil || !reflect.DeepEqual(got, wanted) {
			t.Errorf("got %s, want %s", b, want)
		}
	}
}

// TestVAL12UnmarshalReplaces: what a value had before is gone, and violations are returned as the decoder has them.
func TestVAL12UnmarshalReplaces(t *testing.T) {
	v := []string{"left over"}
	strings := func(d *Decoder, v *[]string) { *v = d.Strings(&Array{Max: 1}, nil) }
	if err := Unmarshal([]byte(`["a"]`), strings, &v); err != nil || len(v) != 1 || v[0] != "a" {
		t.Errorf("got %v, %v", v, err)
	}
	if err, ok := Unmarshal([]byte(`["a", "b"]`), strings, &v).(Violations); !ok {
		t.Errorf("got %v, want violations", err)
	}
}

// TestVAL05MixedEnumTakesEqualValues: a value may be written in other words than the schema's; the text is the schema's.
func TestVAL05MixedEnumTakesEqualValues(t *testing.T) {
	rule := &Values{JSON: []string{`"a"`, "1", "true"}}
	for text, want := range map[string]string{`"\u0061"`: `"a"`, "1.0": "1", "10e-1": "1", " true ": "true", "2": "", `"1"`: "", "null": ""} {
		var got string
		err := Decode([]byte(text), Limits{}, func(d *Decoder, v *string) { *v = d.Value(rule) }, &got)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
	if got := string(AppendValue(AppendValue(nil, "1"), "")); got != "1null" {
		t.Errorf("got %s", got)
	}
}

// TestVAL09ManyValuesAreFoundByTheirText: as they are written, else the first that is equal.
func TestVAL09ManyValuesAreFoundByTheirText(t *testing.T) {
	rule := &Values{}
	for i := range 3 * fewValues {
		rule.JSON = append(rule.JSON, strconv.Itoa(i), `{"a":`+strconv.Itoa(i)+`}`)
	}
	rule.JSON = append(rule.JSON, "1.0", `{"a":40.0}`)
	for text, want := range map[string]string{
		"0": "0", "47": "47", "40.0": "40", "1.0": "1.0", `{"a":40}`: `{"a":40}`, `{ "\u0061":40.0 }`: `{"a":40}`, `{"a":40.0}`: `{"a":40.0}`, "48": "", `{"a":48}`: "", `"40"`: "",
	} {
		var got string
		err := Decode([]byte(text), Limits{}, func(d *Decoder, v *string) { *v = d.Value(rule) }, &got)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestVAL12ReadNullLeavesNothing: what a Nullable held before, such as its default, is gone after null and before a value.
func TestVAL12ReadNullLeavesNothing(t *testing.T) {
	read := func(d *Decoder, n *Nullable[string]) {
		if !ReadNull(d, n) {
			*n = NonNull(d.String(nil))
		}
	}
	for text, want := range map[string]Nullable[string]{`null`: Null[string](), `"a"`: NonNull("a")} {
		got := NonNull("the default")
		if err := Decode([]byte(text), Limits{}, read, &got); err != nil || got != want {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
	}
}

// TestVAL12OptionalMembers: nil is left out, what is empty is not.
func TestVAL12OptionalMembers(t *testing.T) {
	raw := func(b []byte, v *Raw) []byte { return AppendRaw(b, *v) }
	b := AppendOptionalRaw([]byte("{"), `"a":`, nil)
	b = AppendOptionalSlice(b, `"b":`, []string(nil), AppendString)
	b = AppendOptionalList(b, `"c":`, []Raw(nil), raw)
	b = AppendOptionalMap(b, `"d":`, map[string]Raw(nil), raw)
	b = AppendOptionalRaw(b, `"e":`, Raw("1"))
	b = AppendOptionalSlice(b, `"f":`, []string{}, AppendString)
	b = AppendOptionalList(b, `"g":`, []Raw{Raw("2")}, raw)
	b = AppendOptionalMap(b, `"h":`, map[string]Raw{}, raw)
	if got, want := string(b)+"}", `{"e":1,"f":[],"g":[2],"h":{}}`; got != want {
		t.Errorf("wrote %s, want %s", got, want)
	}
}
