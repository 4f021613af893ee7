package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

var sample = Layout{Object: check.Object{Names: []string{"_meta", "mode", "name"}, AdditionalProperties: check.Skip}, Members: []Member{
	{Inside: &Layout{Object: check.Object{Names: []string{"token"}, AdditionalProperties: check.Skip}, Members: []Member{{Slot: SlotProgressToken}}}},
	{Constant: `"form"`},
	{Slot: SlotName},
}}

func TestREV04ALayoutIsReadAndWritten(t *testing.T) {
	var v Values
	if err := sample.Read([]byte(`{"name":"a\"b","other":[1],"_meta":{"token":7,"x":1}}`), &v); err != nil {
		t.Fatal(err)
	}
	if v.Text(SlotName) != `a"b` || v.ID(SlotProgressToken) != rpc.IntID(7) {
		t.Errorf("name %s, token %s", v[SlotName], v[SlotProgressToken])
	}
	for _, c := range []struct{ extra, want string }{
		{``, `{"_meta":{"token":7},"mode":"form","name":"a\"b"}`},
		{`{"x": 1, "name": 2}`, `{"x":1,"_meta":{"token":7},"mode":"form","name":"a\"b"}`},
		{`{"_meta": {"y": {}, "token": 8}}`, `{"_meta":{"y":{},"token":7},"mode":"form","name":"a\"b"}`},
	} {
		if got, err := sample.Append(nil, &v, []byte(c.extra)); string(got) != c.want || err != nil {
			t.Errorf("with %s\ngot  %s (%v)\nwant %s", c.extra, got, err, c.want)
		}
	}
	var empty Values
	if got, err := sample.Append(nil, &empty, nil); string(got) != `{"mode":"form"}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	var none *Layout
	if got, err := none.Append(nil, &v, []byte(`{"a":1}`)); string(got) != `{"a":1}` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := sample.Append(nil, &v, []byte(`[1]`)); err == nil {
		t.Error("extra members that are an array were written")
	}
}

func TestREV04AMessageOfAnotherShapeIsAnError(t *testing.T) {
	for _, text := range []string{`[]`, `1`, `{"_meta":1}`} {
		if err := sample.Read([]byte(text), new(Values)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

// Null is no value of the schemas here, and what many libraries write for an object that is not there.
func TestREV04AnObjectThatIsNullIsAbsent(t *testing.T) {
	var v Values
	if err := sample.Read([]byte(`{"_meta":null,"name":"a"}`), &v); err != nil || v.Text(SlotName) != "a" || v.Has(SlotProgressToken) {
		t.Errorf("%v: %+v", err, v)
	}
}

func TestREV04ValuesOfAnotherTypeAreZero(t *testing.T) {
	var v Values
	v[SlotName], v[SlotTTL], v[SlotTotal], v[SlotIsError] = []byte(`null`), []byte(`"x"`), []byte(`{}`), []byte(`1`)
	if _, ok := v.Millis(SlotTTL); ok || v.Has(SlotName) || v.Text(SlotName) != "" || v.Float(SlotTotal) != 0 || v.True(SlotIsError) || !v.ID(SlotName).IsZero() {
		t.Errorf("%+v", v)
	}
	v[SlotTTL] = []byte(strings.Repeat("9", 40))
	if d, ok := v.Millis(SlotTTL); !ok || d != 1<<63-1 {
		t.Errorf("%v, %t", d, ok)
	}
	v[SlotTTL] = []byte(`1500`)
	if d, ok := v.Millis(SlotTTL); !ok || d != 1500*time.Millisecond {
		t.Errorf("%v, %t", d, ok)
	}
}
