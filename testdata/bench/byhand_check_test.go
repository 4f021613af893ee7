package bench

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"

	"github.com/mcpkiln/mcpkiln/testdata/bench/kiln"
)

// TestByHandAgrees holds the decoders by hand against the generated ones: a column of a table is worth nothing if it is of
// a decoder that forgets a rule.
func TestByHandAgrees(t *testing.T) {
	agree(t, "order", []byte(orderArgs), orderByHand, kiln.DecodePlaceOrder, []change{
		{`"symbol":"ACME",`, ``}, {`"side":"buy",`, ``}, {`"quantity":100,`, ``},
		{`"ACME"`, `""`}, {`"ACME"`, `"ACMEACMEA"`}, {`"ACME"`, `"ACMe"`}, {`"ACME"`, `7`}, {`"buy"`, `"hold"`}, {`"buy"`, `null`},
		{`100`, `0`}, {`100`, `1000001`}, {`100`, `1.5`}, {`100`, `"100"`}, {`100`, `01`}, {`100`, `9223372036854775808`},
		{`12.5`, `0`}, {`12.5`, `-1`}, {`12.5`, `12.`}, {`12.5`, `1e999`}, {`"at the open"`, `"` + strings.Repeat("é", 81) + `"`},
		{`"at the open"`, "\"\xff\""}, {`{`, `[`}, {`}`, `},`}, {`}`, `,}`}, {`}`, ``}, {`}`, `,"x":tru}`}, {`}`, `,"x":"\q"}`},
	}, []change{
		{`100`, `1.0`}, {`100`, `1000000`}, {`100`, `1e2`}, {`12.5`, `12.5e-3`}, {`12.5`, `0.1234567890123456789`}, {`"buy"`, `"sell"`},
		{`"at the open"`, `"` + strings.Repeat("é", 80) + `"`}, {`,"limit":12.5,"note":"at the open"`, ``}, {`,`, " ,\n\t"}, {`:`, ` : `},
		{`}`, `,"x":{"y":[1,-0.5e+3,"\"\u00e9\\",null,true,false,{},[]]}} `},
	})
	agree(t, "trip", trip(3), tripByHand, kiln.DecodeBookTrip, []change{
		{`"id"`, `"x"`}, {`6f1c2b9e-8d44`, `6f1c2b9e-8d4g`}, {`6f1c2b9e-8d44`, `6f1c2b9e08d44`}, {`"name"`, `"x"`}, {`"Ada Lovelace"`, `""`},
		{`Ada Lovelace`, strings.Repeat("x", 101)}, {`ada@example.com`, `ada`}, {`ada@example.com`, `a..da@example.com`}, {`ada@example.com`, `ada@-example.com`},
		{`1815-12-10`, `1815-02-29`}, {`1815-12-10`, `1815-13-10`}, {`"frequent"`, `"window"`}, {`"frequent"`, `1`},
		{`"frequent"`, `"` + strings.Join(strings.Split("abcdefghijklmnopqrs", ""), `","`) + `"`},
		{`"legs":[`, `"legs":[],"other":[`}, {`"ZRH"`, `"ZURI"`}, {`"ZRH"`, `"ZrH"`}, {`"LIS"`, `"L"`}, {`08:15:00`, `24:15:00`}, {`08:15:00`, `08:15:60`},
		{`+01:00`, ``}, {`"price":1`, `"price":-1`}, {`"12A"`, `"123A"`}, {`"12A"`, `"12G"`}, {`"12A"`, `12`}, {`"row":31`, `"row":61`}, {`"row":31`, `"row":0`},
		{`"letter":"F"`, `"letter":"G"`}, {`"row":31,`, ``}, {`"seat"`, `"sea"`}, {`null`, `1`},
	}, []change{
		{`null`, `"a window, please"`}, {`,"note":null`, ``}, {`+01:00`, `Z`}, {`T08:15:00`, `t08:15:00.125`}, {`08:15:00+01:00`, `00:59:60+01:00`},
		{`"12A"`, `"1F"`}, {`1815-12-10`, `1816-02-29`}, {`"window","vegetarian","frequent"`, ``}, {`"price":100.5,`, ``}, {`"row":31`, `"row":3.1e1`},
	})
	agree(t, "records", records(40), recordsByHand, kiln.DecodeImportRecords, []change{
		{`"records"`, `"x"`}, {`"id":1`, `"id":0`}, {`"id":1,`, ``}, {`"name"`, `"x"`}, {`"score"`, `"x"`}, {`record number 1`, ``},
		{`record number 1`, strings.Repeat("x", 65)}, {`0.25`, `-0.25`}, {`0.25`, `100.25`}, {`true`, `1`}, {`true`, `nul`}, {`"medium"`, `"minute"`}, {`[`, `{`}, {`},{`, `}{`},
	}, []change{{`0.25`, `100`}, {`,"active":true`, ``}, {`"medium"`, `"large"`}, {`"medium"`, `"small"`}, {`record number 1`, `Ü`}})
}

// TestMessagesByHandAgree is the same for messages, as far as their generated readers judge: whether the method is right is
// not theirs to say.
func TestMessagesByHandAgree(t *testing.T) {
	readCall := func(data []byte) (called, error) {
		p := kiln.ForCallTool()
		err := p.Read(data)
		return called{idOf(data), p.Name, p.Arguments}, err
	}
	agree(t, "call", call(nil, 7, placeOrder), callByHand, readCall, []change{
		{`2.0`, `2.1`}, {`:7`, `:7.5`}, {`:7`, `:null`}, {`"name"`, `"x"`}, {`"place_order"`, `1`}, {`:{"symbol"`, `:["symbol"`}, {`"params":{`, `"params":[{`},
		{`12.5`, `12.`}, {`}}}`, `}}`},
	}, []change{{`:7`, `:"7"`}, {`"arguments"`, `"_meta"`}, {`"at the open"`, `"at \"the\" open"`}})
	readCancelled := func(data []byte) (cancelled, error) {
		p := kiln.ForCancelled()
		err := p.Read(data)
		return cancelledOf(p.Params), err
	}
	agree(t, "cancelled", []byte(cancelledMessage), cancelledByHand, readCancelled, []change{
		{`2.0`, `2.1`}, {`"params":{`, `"params":[{`}, {`"not needed"`, `1`}, {`}}`, `}`},
	}, []change{{`:7`, `:"7"`}, {`,"reason":"not needed"`, ``}})
	agree(t, "result", []byte(resultMessage), answerByHand, kiln.ReadAnswer, []change{
		{`2.0`, `2.1`}, {`:7`, `:7.5`}, {`"id":7,`, ``}, {`"content"`, `"x"`}, {`"type":"text"`, `"type":"x"`}, {`"text":"Order`, `"x":"Order`}, {`"uri"`, `"x"`},
		{`"name":"order-4711"`, `"name":4711`}, {`"accepted":true`, `"accepted":1`}, {`"accepted"`, `"x"`}, {`"isError":false`, `"isError":null`}, {`"_meta":{`, `"_meta":[{`},
	}, []change{{`"isError":false,`, ``}, {`"structuredContent":{"accepted":true},`, ``}, {`,"description":"The order as it stands"`, ``}})
}

func idOf(data []byte) rpc.ID {
	if bytes.Contains(data, []byte(`"id":"7"`)) {
		return rpc.StringID("7")
	}
	return rpc.IntID(7)
}

func cancelledOf(p wire.Params) cancelled { return cancelled{p.RequestID, p.Reason} }

// change is one replacement in a text that both decoders take.
type change struct{ from, to string }

func agree[T any](t *testing.T, what string, good []byte, byHand, generated func([]byte) (T, error), wrong, right []change) {
	t.Helper()
	same(t, what, good, byHand, generated)
	for _, c := range right {
		same(t, what, c.in(t, good), byHand, generated)
	}
	for _, c := range wrong {
		text := c.in(t, good)
		if _, err := byHand(text); err == nil {
			t.Errorf("%s: by hand takes %s", what, text)
		}
		if _, err := generated(text); err == nil {
			t.Errorf("%s: generated code takes %s", what, text)
		}
	}
}

func (c change) in(t *testing.T, text []byte) []byte {
	t.Helper()
	if !bytes.Contains(text, []byte(c.from)) {
		t.Fatalf("no %s in %s", c.from, text)
	}
	return bytes.Replace(text, []byte(c.from), []byte(c.to), 1)
}

func same[T any](t *testing.T, what string, text []byte, byHand, generated func([]byte) (T, error)) {
	t.Helper()
	got, err := byHand(text)
	if err != nil {
		t.Errorf("%s: by hand: %v: %s", what, err, text)
		return
	}
	want, err := generated(text)
	if err != nil {
		t.Errorf("%s: generated code: %v: %s", what, err, text)
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: by hand %+v\ngenerated %+v\nof %s", what, got, want, text)
	}
}

// TestByHandAgreesOnEveryByte changes one byte at a time into what means something in JSON. Only escapes are refused by
// hand alone.
func TestByHandAgreesOnEveryByte(t *testing.T) {
	for _, r := range rows()[:3] {
		text := r.data
		if len(text) > 1<<13 {
			text = records(3)
		}
		for i, was := range text {
			for _, c := range []byte("\"\\{}[]:,0-.eA a\x00\xc3") {
				text[i] = c
				byHand, generated := r.byHand(text), r.kiln(text)
				if (byHand == nil) != (generated == nil) && bytes.IndexByte(text, '\\') < 0 {
					t.Fatalf("by hand: %v\ngenerated: %v\nof %q", byHand, generated, text)
				}
			}
			text[i] = was
		}
	}
}
