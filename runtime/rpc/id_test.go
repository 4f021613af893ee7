package rpc

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

func TestCAN05IDsCompareByTypeAndValue(t *testing.T) {
	different := []string{`1`, `"1"`, `-1`, `0`, `"0"`, `""`, `9007199254740992`, `9007199254740993`, `"9007199254740993"`,
		`9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `-9223372036854775809`,
		`123456789012345678901234567890`, `123456789012345678901234567891`, `"123456789012345678901234567890"`, `"a"`, `"A"`}
	seen := map[ID]string{}
	for _, token := range different {
		id, err := ParseID([]byte(token))
		if err != nil {
			t.Errorf("%s: %v", token, err)
			continue
		}
		if other, ok := seen[id]; ok {
			t.Errorf("%s equals %s", token, other)
		}
		seen[id] = token
		if id.String() != token || id.IsZero() {
			t.Errorf("%s comes back as %s", token, id)
		}
	}
	for _, same := range [][2]string{{`"\u0031"`, `"1"`}, {`"\ud83d\ude00"`, `"😀"`}, {`"\/"`, `"/"`}, {`-0`, `0`}} {
		a, errA := ParseID([]byte(same[0]))
		b, errB := ParseID([]byte(same[1]))
		if errA != nil || errB != nil || a != b {
			t.Errorf("%s (%v) is not %s (%v)", same[0], errA, same[1], errB)
		}
	}
}

func TestCAN05WrongIDsAreErrorsNeverRounded(t *testing.T) {
	for _, token := range []string{``, `null`, `true`, `false`, `1.0`, `1.5`, `1e0`, `1E2`, `-`, `01`, `-01`, `+1`, `0x1`, `{}`, `[]`, `[1]`,
		`"`, `"a`, `"\x"`, `"\ud800"`, "\"\xff\"", "\"\n\"", ` 1`, `1 `, `"a" `, `12a`, `1234567890123456789012.5`,
		`"` + strings.Repeat("a", MaxIDBytes) + `"`, strings.Repeat("1", MaxIDBytes+1)} {
		if id, err := ParseID([]byte(token)); err == nil || !id.IsZero() {
			t.Errorf("%.40q: %v, %v", token, id, err)
		}
	}
}

func TestIntAndTextOfIDs(t *testing.T) {
	if n, ok := IntID(-7).Int(); n != -7 || !ok {
		t.Error(n, ok)
	}
	if _, ok := StringID("7").Int(); ok || StringID("7").Text() != "7" || IntID(7).Text() != "" {
		t.Error("a string is no integer")
	}
	if (ID{}).String() != "null" || !(ID{}).IsZero() {
		t.Error("the zero ID is none")
	}
}

func TestIDsDoNotAliasTheFrame(t *testing.T) {
	for _, token := range []string{`"abc"`, `123456789012345678901234567890`} {
		b := []byte(token)
		id, err := ParseID(b)
		clear(b)
		if err != nil || id.String() != token {
			t.Errorf("%s: %v, %v", token, id, err)
		}
	}
}

func TestIntegerIDsDoNotAllocate(t *testing.T) {
	token := []byte(`-999999999999999999`)
	if n := testing.AllocsPerRun(100, func() { _, _ = ParseID(token) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzID(f *testing.F) {
	for _, seed := range []string{`1`, `-0`, `"a\u0031"`, `9007199254740993`, `1.5`, `null`, `"\ud800"`, `123456789012345678901`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, token []byte) {
		id, err := ParseID(token)
		if err != nil {
			return
		}
		again, err := ParseID(id.AppendJSON(nil))
		if err != nil || again != id {
			t.Fatalf("%q is %v, and read again %v, %v", token, id, again, err)
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(token))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%q is an id but no JSON: %v", token, err)
		}
		switch v := v.(type) {
		case string:
			if id != StringID(v) {
				t.Fatalf("%q: %v", token, id)
			}
		case json.Number:
			want, ok := new(big.Int).SetString(v.String(), 10)
			if !ok || want.String() != id.String() {
				t.Fatalf("%q: %v, want %v", token, id, want)
			}
		default:
			t.Fatalf("%q: an id of type %T", token, v)
		}
	})
}
