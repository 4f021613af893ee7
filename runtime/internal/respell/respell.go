// Package respell is for tests of what must not depend on how JSON is written (LET14).
package respell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// JSON writes text in another way, which the seed decides. It returns false for what is no JSON, has a repeated name, or has text that is not
// Unicode.
func JSON(text []byte, seed uint64) ([]byte, bool) {
	r := &respeller{Rand: rand.New(rand.NewPCG(seed, 1))}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	out, ok := r.value(nil, d)
	if _, err := d.Token(); err != io.EOF || !ok {
		return nil, false
	}
	return out, !r.lossy
}

// respeller writes JSON that means the same in another way: white space, escapes, numbers and the order of members.
type respeller struct {
	*rand.Rand
	lossy bool // a string has the character that stands in for what is not Unicode
}

func (r *respeller) value(b []byte, d *json.Decoder) ([]byte, bool) {
	token, err := d.Token()
	if err != nil {
		return nil, false
	}
	b = r.space(b)
	switch v := token.(type) {
	case json.Delim:
		return r.members(b, d, v)
	case string:
		return r.space(r.text(b, v)), true
	case json.Number:
		return r.space(r.number(b, v.String())), true
	default:
		raw, err := json.Marshal(v)
		return r.space(append(b, raw...)), err == nil
	}
}

// members writes an object or an array.
func (r *respeller) members(b []byte, d *json.Decoder, open json.Delim) ([]byte, bool) {
	var list [][]byte
	seen := map[string]bool{}
	for d.More() {
		var member []byte
		if open == '{' {
			token, err := d.Token()
			name, _ := token.(string)
			if err != nil || seen[name] {
				return nil, false
			}
			seen[name] = true
			member = append(r.space(r.text(r.space(nil), name)), ':')
		}
		member, ok := r.value(member, d)
		if !ok {
			return nil, false
		}
		list = append(list, member)
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	if open == '{' {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	b = append(append(b, byte(open)), bytes.Join(list, []byte(","))...)
	return r.space(append(b, byte(open)+2)), true // the closing bracket is two further than the opening one
}

func (r *respeller) space(b []byte) []byte {
	for r.IntN(4) == 0 {
		b = append(b, " \t\r\n"[r.IntN(4)])
	}
	return b
}

// number writes the same value with another fraction or exponent.
func (r *respeller) number(b []byte, s string) []byte {
	b = append(b, s...)
	if strings.ContainsAny(s, "eE") {
		return b
	}
	whole, decimals, fraction := strings.Cut(s, ".")
	switch r.IntN(6) {
	case 0:
		b = append(b, "e0"...)
	case 1:
		b = append(b, "E+00"...)
	case 2:
		if !fraction {
			b = append(b, '.')
		}
		b = append(b, "00"...)
	case 3:
		if !fraction && strings.TrimPrefix(whole, "-") != "0" { // no digit follows a leading zero
			b = append(b, "0e-1"...)
		}
	case 4:
		if moved := strings.TrimLeft(strings.TrimPrefix(whole, "-")+decimals, "0"); moved != "" { // without the point
			b = append(b[:len(b)-len(s)], strings.Repeat("-", strings.Count(whole, "-"))+moved...)
			b = fmt.Appendf(b, "e-%d", len(decimals))
		}
	}
	return b
}

func (r *respeller) text(b []byte, s string) []byte {
	b = append(b, '"')
	for _, c := range s {
		r.lossy = r.lossy || c == utf8.RuneError
		switch {
		case c == '/' && r.IntN(2) == 0:
			b = append(b, `\/`...)
		case c < ' ' || c == '"' || c == '\\' || c < 0x10000 && r.IntN(4) == 0:
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, string(c)...)
		}
	}
	return append(b, '"')
}
