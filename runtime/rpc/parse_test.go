package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// render shows a message for comparison.
func render(m Message, err *Error) string {
	kinds := [...]string{"invalid", "request", "notification", "result", "error"}
	s := kinds[m.Kind] + " id=" + m.ID.String()
	if err != nil {
		return fmt.Sprintf("%s refused %d %s", s, err.Code, err.Message)
	}
	for _, part := range []struct {
		name  string
		value []byte
	}{{"method", m.Method}, {"params", m.Params}, {"result", m.Result}} {
		if part.value != nil {
			s += fmt.Sprintf(" %s=%s", part.name, part.value)
		}
	}
	if m.Error != nil {
		s += fmt.Sprintf(" error=%d %q %s", m.Error.Code, m.Error.Message, m.Error.Data)
	}
	return s
}

// parseCase is a frame and what Parse says; a refusal's text may go on.
type parseCase struct{ name, frame, want string }

func testParse(t *testing.T, cases []parseCase, limits check.Limits) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := render(Parse([]byte(c.frame), limits))
			if got != c.want && !(strings.Contains(c.want, "refused") && strings.HasPrefix(got, c.want)) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	testParse(t, []parseCase{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":[1,{}]}}`, `request id=1 method=tools/call params={"a":[1,{}]}`},
		{"no params", `{"jsonrpc":"2.0","id":"x","method":"ping"}`, `request id="x" method=ping`},
		{"id last, spaces", " { \"params\" : {} ,\t\"method\":\"ping\",\"jsonrpc\":\"2.0\",\r\n\"id\" : 0 } ", `request id=0 method=ping params={}`},
		{"unknown members", `{"jsonrpc":"2.0","extra":{"id":7},"id":1,"method":"ping"}`, `request id=1 method=ping`},
		{"escapes", `{"json\u0072pc":"2\u002e0","\u0069d":1,"method":"tools\/call"}`, `request id=1 method=tools/call`},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `notification id=null method=notifications/initialized`},
		{"CAN10: a notification's name with an id", `{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled"}`, `request id=1 method=notifications/cancelled`},
		{"result", `{"jsonrpc":"2.0","id":1,"result":{"x":1}}`, `result id=1 result={"x":1}`},
		{"result null", `{"jsonrpc":"2.0","id":1,"result":null}`, `result id=1 result=null`},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no \"x\"","data":[1]}}`, `error id=1 error=-32601 "no \"x\"" [1]`},
		{"error without id", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`, `error id=null error=1 "" `},
		{"error, id absent", `{"jsonrpc":"2.0","error":{"code":1,"message":""}}`, `error id=null error=1 "" `},

		{"scalar", `1`, `invalid id=null refused -32600 a message must be an object`},
		{"null", `null`, `invalid id=null refused -32600 a message must be an object`},
		{"empty", ``, `invalid id=null refused -32700`},
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":"ping"`, `invalid id=null refused -32700`},
		{"two values", `{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, `invalid id=null refused -32700`},
		{"bad JSON inside params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":tru}}`, `invalid id=null refused -32700`},
		{"bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}", `invalid id=null refused -32700`},

		{"jsonrpc missing", `{"id":1,"method":"ping"}`, `request id=1 refused -32600 jsonrpc must be "2.0"`},
		{"jsonrpc a number", `{"jsonrpc":2.0,"id":"a","method":"ping"}`, `request id="a" refused -32600 jsonrpc must be "2.0"`},
		{"jsonrpc 1.0", `{"jsonrpc":"1.0","method":"ping"}`, `notification id=null refused -32600 jsonrpc must be "2.0"`},
		{"method a number", `{"jsonrpc":"2.0","id":1,"method":1}`, `invalid id=1 refused -32600 method must be a string`},
		{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, `invalid id=1 refused -32600 method must be a string`},
		{"neither", `{"jsonrpc":"2.0","id":1}`, `invalid id=1 refused -32600 one of method, result and error is required`},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, `result id=1 refused -32600 only one of method, result and error may be present`},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, `request id=1 refused -32600 only one of method, result and error may be present`},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, `result id=null refused -32600 a result needs an id`},
		{"error no object", `{"jsonrpc":"2.0","id":1,"error":"x"}`, `error id=1 refused -32600`},
		{"error without code", `{"jsonrpc":"2.0","id":1,"error":{"message":""}}`, `error id=1 refused -32600`},
		{"CAN04 params array", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}`, `notification id=null refused -32602 params must be an object`},
		{"CAN04 params null", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}`, `notification id=null refused -32602 params must be an object`},
		{"params a string", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`, `request id=1 refused -32602 params must be an object`},
	}, check.Limits{})
}

func TestCAN24BatchesAreRefused(t *testing.T) {
	testParse(t, []parseCase{
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `invalid id=null refused -32600 batches are not supported: send one message at a time`},
		{"empty batch", ` []`, `invalid id=null refused -32600 batches are not supported: send one message at a time`},
		{"malformed batch", `[{"jsonrpc":"2.0"`, `invalid id=null refused -32700`},
	}, check.Limits{})
}

func TestCAN24ABatchIsTakenApart(t *testing.T) {
	for frame, want := range map[string]string{
		` [1, {"a":[2]} ,"x"]`: `1|{"a":[2]}|"x"`, `[{"a":1,"a":2}]`: `{"a":1,"a":2}`, `[]`: "-32600", `[1`: "-32700", `{}`: "-32600", `[1]x`: "-32700",
		`[` + strings.Repeat("1,", MaxBatch) + `1]`: "-32600",
	} {
		messages, err := Batch([]byte(frame), check.Limits{})
		got := string(bytes.Join(messages, []byte("|")))
		if err != nil {
			got = strconv.Itoa(err.Code)
		}
		if got != want || IsBatch([]byte(frame)) == (frame == "{}") {
			t.Errorf("%.40s: %s, want %s", frame, got, want)
		}
	}
}

func TestCAN05RequestsWithWrongIDsAreRefused(t *testing.T) {
	testParse(t, []parseCase{
		{"fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `request id=null refused -32600 id must be an integer, without a fraction`},
		{"exponent", `{"jsonrpc":"2.0","id":15e-1,"method":"ping"}`, `request id=null refused -32600 id must be an integer, without a fraction`},
		{"null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `request id=null refused -32600 id must be a string or an integer`},
		{"object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `request id=null refused -32600 id must be a string or an integer`},
	}, check.Limits{})
}

func TestVAL07RepeatedKeysAreRefused(t *testing.T) {
	testParse(t, []parseCase{
		{"id", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, `invalid id=null refused -32600 repeated key "id" at /id`},
		{"method", `{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`, `request id=1 refused -32600 repeated key "method" at /method`},
		{"by escape", `{"jsonrpc":"2.0","id":1,"method":"a","\u006dethod":"b"}`, `request id=1 refused -32600 repeated key`},
		{"method, id last", `{"jsonrpc":"2.0","method":"a","method":"b","id":"x"}`, `request id="x" refused -32600 repeated key "method" at /method`},
		{"params", `{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}`, `request id=1 refused -32600 repeated key "params" at /params`},
		{"jsonrpc", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}`, `request id=1 refused -32600 repeated key "jsonrpc" at /jsonrpc`},
		{"method of two types", `{"jsonrpc":"2.0","id":1,"method":5,"method":"b"}`, `invalid id=1 refused -32600 repeated key "method" at /method`},
		{"method beside a wrong id", `{"jsonrpc":"2.0","id":1.5,"method":"a","method":"b"}`, `invalid id=null refused -32600 repeated key "method" at /method`},
		{"method of a notification", `{"jsonrpc":"2.0","method":"a","method":"b"}`, `notification id=null refused -32600 repeated key "method" at /method`},
		{"an id spelt with escapes", `{"jsonrpc":"2.0","\u0069d":1,"method":"a","method":"b"}`, `request id=1 refused -32600 repeated key`},
		{"an id in two spellings", `{"jsonrpc":"2.0","\u0069d":1,"id":1,"method":"a"}`, `invalid id=null refused -32600 repeated key "id" at /id`},
		{"in what is no JSON", `{"jsonrpc":"2.0","id":1,"method":"a","method":"b",}`, `invalid id=null refused -32700`},
		{"inside params", `{"method":"ping","params":{"a":1,"a":2},"jsonrpc":"2.0","id":5}`, `request id=5 refused -32600 repeated key "a" at /params/a`},
		{"of an answer", `{"jsonrpc":"2.0","id":1,"result":1,"result":2}`, `result id=1 refused -32600 repeated key "result" at /result`},
		{"id of an answer", `{"jsonrpc":"2.0","id":1,"result":1,"id":1}`, `result id=1 refused -32600 repeated key "id" at /id`},
		{"string id of an answer", `{"jsonrpc":"2.0","id":"a","id":"\u0061","error":{"code":1,"message":"m"}}`, `error id="a" refused -32600 repeated key "id" at /id`},
		{"spelt id of an answer", `{"jsonrpc":"2.0","id":1,"id":1.0,"error":{"code":1,"message":"m"}}`, `error id=1 refused -32600 repeated key "id" at /id`},
		{"two ids of an answer", `{"jsonrpc":"2.0","id":1,"id":"1","result":1}`, `invalid id=null refused -32600 repeated key "id" at /id`},
		{"ids of an answer that are none", `{"jsonrpc":"2.0","id":1.5,"id":1.5,"result":1}`, `invalid id=null refused -32600 repeated key "id" at /id`},
	}, check.Limits{})
}

// A frame that may be an answer settles what it may answer, also when it repeats a member (CAN30).
func TestCAN30ARepeatedMemberDoesNotHideThatAFrameMayBeAnAnswer(t *testing.T) {
	for frame, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"a","result":{},"result":{}}`: true,
		`{"jsonrpc":"2.0","jsonrpc":"2.0","id":1}`:                      true,
		`{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`:            false,
	} {
		if m, err := Parse([]byte(frame), check.Limits{}); err == nil || m.ID != IntID(1) || m.Answers() != want {
			t.Errorf("%s: id %v, may be an answer: %v", frame, m.ID, m.Answers())
		}
	}
}

// Limits are named, and the sender learns which of its requests it was: some clients write the id last.
func TestVAL07LimitsAreNamedAndTheIDIsEchoed(t *testing.T) {
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	testParse(t, []parseCase{
		{"depth", `{"method":"ping","params":{"a":` + deep + `},"jsonrpc":"2.0","id":7}`, `request id=7 refused -32600 nested deeper than the limit of 64 levels`},
		{"depth, id first", `{"jsonrpc":"2.0","id":"a","method":"ping","params":{"a":` + deep + `}}`, `request id="a" refused -32600 nested deeper`},
		{"depth, notification", `{"method":"ping","params":{"a":` + deep + `},"jsonrpc":"2.0"}`, `notification id=null refused -32600 nested deeper`},
		{"depth, brackets in strings", `{"method":"p","params":{"a":` + deep + `,"b":"]}\"}]"},"x":"}","id":8}`, `request id=8 refused -32600 nested deeper`},
		{"depth, cut off", `{"method":"ping","params":{"a":` + strings.Repeat("[", 10_000), `invalid id=null refused -32600 nested deeper`},
		{"depth, garbage after", `{"method":"ping","params":{"a":` + deep + `}]`, `notification id=null refused -32600 nested deeper`},
		{"depth, two ids", `{"id":1,"params":{"a":` + deep + `},"id":2}`, `invalid id=null refused -32600 nested deeper`},
		{"depth, batch", `[` + deep + `]`, `invalid id=null refused -32600 nested deeper`},
		{"number", `{"method":"ping","params":{"a":` + strings.Repeat("1", 101) + `},"id":7}`, `request id=7 refused -32600 a number longer than the limit of 100 bytes`},
		{"bytes", `{"method":"ping","params":{"a":"` + strings.Repeat("x", 100_000) + `"},"id":7}`, `request id=7 refused -32600 longer than the limit of 50000 bytes`},
		{"surrogate", `{"method":"ping","params":{"a":"\ud800"},"id":7}`, `request id=7 refused -32600 a string with half of a surrogate pair`},
	}, check.Limits{Depth: 64, NumberBytes: 100, Bytes: 50_000})
}

func TestCAN04OnlyRequestsAndTheUnknowableAreAnswered(t *testing.T) {
	for frame, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`: true,
		`{"jsonrpc":"2.0","id":1.5,"method":"m"}`:           true,
		`{`:                       true,
		`[]`:                      true,
		`{"method":"m"}`:          false,
		`{"id":{},"result":1}`:    false,
		`{"id":1,"error":"what"}`: false,
	} {
		m, err := Parse([]byte(frame), check.Limits{})
		if err == nil || m.WantsReply() != want {
			t.Errorf("%s: %v, wants reply %v", frame, err, m.WantsReply())
		}
	}
}

func TestAppendIsWhatParseReads(t *testing.T) {
	for _, id := range []ID{IntID(1), StringID("a\"\n\u2028<"), {text: "123456789012345678901234567890", kind: idBig}} {
		for want, frame := range map[string][]byte{
			"request id=" + id.String() + ` method=a/b params={"x":1}`: AppendRequest(nil, id, "a/b", []byte(`{"x":1}`)),
			"request id=" + id.String() + ` method=a/b`:                AppendRequest(nil, id, "a/b", nil),
			"notification id=null method=a/b":                          AppendNotification(nil, "a/b", nil),
			"result id=" + id.String() + " result={}":                  AppendResult(nil, id, nil),
			"error id=" + id.String() + ` error=-32600 "m\"" [1]`:      AppendError(nil, id, &Error{Code: -32600, Message: `m"`, Data: []byte("[1]")}),
		} {
			if got := render(Parse(frame, check.Limits{})); got != want || !json.Valid(frame) {
				t.Errorf("got  %s\nwant %s\nfrom %s", got, want, frame)
			}
		}
	}
	if got := string(AppendError(nil, ID{}, Errorf(CodeParseError, "no %s", "JSON"))); got != `{"jsonrpc":"2.0","error":{"code":-32700,"message":"no JSON"}}` {
		t.Error(got)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":[1,{"b":"\u0031\ud83d\ude00"}],"a":1}}`,
		`{"jsonrpc":"2.0","id":"x","result":{"n":-1.5e10}}`, `[{}]`, `{"id":1,"params":[[[[[[[[[[1]]]]]]]]]]}`, `{"\u0069d":1,"id":2}`,
		`{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}`, "{\"a\":\"\xff\"}", `{"a":,}`, `{"a":[[[[[[[[[{]]]]]]]]]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := Parse(frame, check.Limits{Depth: 8})
		valid := json.Valid(frame)
		if err == nil && !valid {
			t.Fatalf("%q was taken and is no JSON", frame)
		}
		if err == nil && m.Kind == KindInvalid {
			t.Fatalf("%q was taken as nothing", frame)
		}
		if err != nil && err.Code == CodeParseError && valid && utf8.Valid(frame) {
			t.Fatalf("%q is JSON: %v", frame, err)
		}
		if err != nil && (err.Code == CodeParseError && !m.Answers() || m.Kind == KindNotification) && !m.ID.IsZero() {
			t.Fatalf("%q: id %v", frame, m.ID)
		}
		var members map[string]json.RawMessage
		if m.ID.IsZero() || json.Unmarshal(frame, &members) != nil {
			return
		}
		if want, err := ParseID(members["id"]); err != nil || m.ID != want {
			t.Fatalf("%q: id %v, want %v", frame, m.ID, want)
		}
	})
}

// reader takes the name in the params of a method called "known", and in the result with id 1.
type reader struct {
	name string
	err  error
	read int
}

func (r *reader) ReadParams(d *check.Decoder, method []byte) bool {
	return string(method) == "known" && r.take(d)
}

func (r *reader) ReadResult(d *check.Decoder, id ID) bool { return id == IntID(1) && r.take(d) }

func (r *reader) take(d *check.Decoder) bool {
	r.read++
	rule := check.Object{Names: []string{"name"}, Required: []string{"name"}, AdditionalProperties: check.Skip}
	r.err = check.Within(d, func(d *check.Decoder, name *string) {
		for f := d.Object(&rule); f >= 0; f = d.Next() {
			*name = d.String(nil)
		}
	}, &r.name)
	return true
}

func TestParamsAndResultsAreReadOnTheWay(t *testing.T) {
	for name, row := range map[string]struct {
		frame string
		want  string // what ParseInto says
		read  string // what the reader got
	}{
		"a known method":     {`{"jsonrpc":"2.0","id":1,"method":"known","params":{"x":[{}],"name":"a"}}`, `request id=1 method=known params={"x":[{}],"name":"a"}`, "a"},
		"params first":       {`{"jsonrpc":"2.0","id":1,"params":{"name":"a"},"method":"known"}`, `request id=1 method=known params={"name":"a"}`, ""},
		"another method":     {`{"jsonrpc":"2.0","method":"other","params":{"name":"a"}}`, `notification id=null method=other params={"name":"a"}`, ""},
		"escapes":            {`{"jsonrpc":"2.0","id":1,"method":"kno\u0077n","params":{"name":"a"}}`, `request id=1 method=known params={"name":"a"}`, ""},
		"a method of none":   {`{"jsonrpc":"2.0","id":1,"method":5,"params":{"name":"a"}}`, `invalid id=1 refused -32600 method must be a string`, ""},
		"a wrong member":     {`{"jsonrpc":"2.0","id":1,"method":"known","params":{"name":5}}`, `request id=1 method=known params={"name":5}`, "/name: type: found 5, allowed: a string"},
		"nothing":            {`{"jsonrpc":"2.0","id":1,"method":"known","params":{}}`, `request id=1 method=known params={}`, "/name: is required and missing"},
		"no object":          {`{"jsonrpc":"2.0","id":1,"method":"known","params":3}`, `request id=1 refused -32602 params must be an object`, "(root): type: found 3, allowed: an object"},
		"a repeated key":     {`{"jsonrpc":"2.0","id":1,"method":"known","params":{"x":{"y":1,"y":2},"name":"a"}}`, `request id=1 refused -32600 repeated key "y" at /params/x/y`, "a"},
		"malformed in them":  {`{"jsonrpc":"2.0","id":1,"method":"known","params":{"name":"a"`, `invalid id=null refused -32700`, "a"},
		"a result":           {`{"jsonrpc":"2.0","id":1,"result":{"name":"a"}}`, `result id=1 result={"name":"a"}`, "a"},
		"a wrong result":     {`{"jsonrpc":"2.0","id":1,"result":{"name":5}}`, `result id=1 result={"name":5}`, "/name: type: found 5, allowed: a string"},
		"another id":         {`{"jsonrpc":"2.0","id":2,"result":{"name":"a"}}`, `result id=2 result={"name":"a"}`, ""},
		"the result first":   {`{"jsonrpc":"2.0","result":{"name":"a"},"id":1}`, `result id=1 result={"name":"a"}`, ""},
		"a result of a call": {`{"jsonrpc":"2.0","id":1,"method":"x","result":{"name":"a"}}`, `request id=1 refused -32600`, ""},
		"an error":           {`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`, `error id=1 error=1 "m" `, ""},
		"malformed behind":   {`{"jsonrpc":"2.0","id":1,"method":"known","params":{"name":"a"},}`, `invalid id=null refused -32700`, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			var r reader
			if got := render(ParseInto([]byte(row.frame), check.Limits{}, &r)); !strings.HasPrefix(got, row.want) {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			got := r.name
			if r.err != nil {
				got = r.err.Error()
			}
			if got != row.read || r.read > 1 {
				t.Errorf("read %d times: got %q, want %q", r.read, got, row.read)
			}
		})
	}
}
