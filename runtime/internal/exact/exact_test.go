package exact

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

type part struct {
	Word string `json:"word"`
}

type whole struct {
	part
	Text     string          `json:"text,omitempty"`
	Raw      json.RawMessage `json:"raw"`
	Named    map[string]part `json:"named"`
	List     []*part         `json:"list"`
	Texts    []string        `json:"texts"`
	Number   *float64        `json:"number"`
	Any      any             `json:"any"`
	Untagged string
	Left     string `json:"-"`
	part2
	Twice string `json:"twice"`
}

type part2 struct {
	Twice string `json:"twice"`
}

func TestLET12NamesMatchExactly(t *testing.T) {
	text := `{"text":"a","Text":"b","TEXT":"c","word":"d","Word":"e","raw":{"Raw":1},"RAW":2,"named":{"x":{"word":"f","Word":"g"},"X":{"wORD":"h"}},
		"list":[{"word":"i","WORD":"j"},null],"texts":["k"],"Texts":["l"],"number":1.5,"Number":2,"any":{"Any":1},"Any":2,"Untagged":"m","":"n","escaped\u0000":1,"t\u0065xt":"a"}`
	number := 1.5
	want := whole{part: part{"d"}, Text: "a", Raw: json.RawMessage(`{"Raw":1}`), Named: map[string]part{"x": {"f"}, "X": {}}, List: []*part{{"i"}, nil},
		Texts: []string{"k"}, Number: &number, Any: map[string]any{"Any": 1.0}}
	var got whole
	if err := Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// Where names are exact, both read the same.
func TestUnmarshalReadsWhatEncodingJSONDoes(t *testing.T) {
	for _, text := range []string{`null`, `1`, `{}`, `[]`, `{"word":1,"text":"a"}`, `{"list":null,"texts":null,"named":null,"number":null,"any":null,"raw":null}`,
		`{"list":[],"texts":[],"named":{}}`, `{"list":{},"text":"a"}`, `{"named":[],"text":"a"}`, `{"list":[1,{"word":"a"}],"text":"b"}`, `{"named":{"x":1},"text":"b"}`, `{`, `{"-":"a"}`, `{"twice":"a"}`} {
		var got, want whole
		err, wantErr := Unmarshal([]byte(text), &got), json.Unmarshal([]byte(text), &want)
		if (err != nil) != (wantErr != nil) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v, %v", text, got, err, want, wantErr)
		}
	}
}

// Nothing is left out without an error: the members after such a name would be.
func TestLET12ANameThatIsNoUnicodeIsAnError(t *testing.T) {
	for _, text := range []string{`{"\ud800":1,"text":"a"}`, "{\"\xff\":1,\"text\":\"a\"}", "{\"named\":{\"\xff\":{}},\"text\":\"a\"}", `{"list":[{"\udfff":1}]}`} {
		var got whole
		if err := Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

// Where the case of names plays no part, and none is repeated, both read the same.
func FuzzUnmarshal(f *testing.F) {
	for _, text := range []string{`{"text":"a","texts":["b"]}`, `{"list":[{"word":"i","words":1},null]}`, ` {"named" : {"x":{"word":"f"}} } `, `{"raw":[1, 2],"any":3}`, `[`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if check.Valid(text, check.Limits{}) != nil || bytes.ContainsFunc(text, func(r rune) bool { return r > '~' || r == '\\' || 'A' <= r && r <= 'Z' }) {
			return
		}
		var got, want whole
		err, wantErr := Unmarshal(text, &got), json.Unmarshal(text, &want)
		if (err != nil) != (wantErr != nil) || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v, %v", got, err, want, wantErr)
		}
	})
}
