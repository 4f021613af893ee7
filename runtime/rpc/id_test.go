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
		for other, as := range seen {
			if other.Same(id) {
				t.Errorf("%s is the same as %s", token, as)
			}
		}
		seen[id] = token
		if id.String() != token || id.IsZero() {
			t.Errorf("%s comes back as %s", token, id)
		}
	}
	for _, same := range [][2]string{{`"\u0031"`, `"1"`}, {`"\ud83d\ude00"`, `"😀"`}, {`"\/"`, `"/"`}, {`-0`, `0`}} {
		if a, b := id(t, same[0]), id(t, same[1]); !a.Same(b) {
			t.Errorf("%s is not %s", a, b)
		}
	}
}

func id(t *testing.T, token string) ID {
	t.Helper()
	id, err := ParseID([]byte(token))
	if err != nil {
		t.Fatalf("%s: %v", token, err)
	}
	return id
}

// The schemas let an id be any JSON integer, and 1.0 is one (https://json-schema.org/draft/2020-12/json-schema-core#section-4.2.3,
// https://modelcontextprotocol.io/specification/2025-11-25/schema#requestid). It goes back as it came.
func TestLET14NumbersOfOneValueAreOneID(t *testing.T) {
	for plain, spelt := range map[string][]string{
		`1`: {`1.0`, `1e0`, `1.000`, `10e-1`, `0.1E+1`, `0.01e2`}, `0`: {`-0`, `0.0`, `-0e7`, `0e999999999999`}, `-120`: {`-1.2e2`, `-120.0`},
		`9007199254740993`: {`9007199254740993.0`, `900719925474099.3e1`}, `9223372036854775807`: {`9.223372036854775807e18`},
		`9223372036854775808`: {`9.223372036854775808e18`, `9223372036854775808.0`}, `1000000000000000000000`: {`1e21`, `1.0E21`, `10e20`},
	} {
		for _, token := range spelt {
			got := id(t, token)
			if !got.Same(id(t, plain)) || got.Plain() != id(t, plain) || got.Same(StringID(plain)) || got.String() != token {
				t.Errorf("%s: %s, plainly %s, want %s", token, got, got.Plain(), plain)
			}
		}
	}
	if a, b := id(t, `1e21`), id(t, `10e20`); !a.Same(b) {
		t.Error("two spellings of one large integer")
	}
	if a, b := id(t, `1e21`), id(t, `1e22`); a.Same(b) {
		t.Error("two large integers are one")
	}
}

func TestCAN05WrongIDsAreErrorsNeverRounded(t *testing.T) {
	for _, token := range []string{``, `null`, `true`, `false`, `1.5`, `1e-1`, `0.10`, `1.`, `1e`, `.5`, `1e+`, `00.1`, `01e1`, `1e99999`, `1e99999999999999999999`, `1.0 `, `-`, `01`, `-01`, `+1`, `0x1`, `{}`, `[]`, `[1]`,
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
	for _, token := range []string{`"abc"`, `123456789012345678901234567890`, `1.0`, `1e30`} {
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
	for _, seed := range []string{`1`, `-0`, `"a\u0031"`, `9007199254740993`, `1.5`, `1.0`, `1e2`, `12e-1`, `1e21`, `null`, `"\ud800"`, `123456789012345678901`} {
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
			want, ok := new(big.Rat).SetString(v.String())
			if !ok || !want.IsInt() || want.Num().String() != id.Plain().String() || id.String() != v.String() {
				t.Fatalf("%q: %v, want %v", token, id, want)
			}
		default:
			t.Fatalf("%q: an id of type %T", token, v)
		}
	})
}
