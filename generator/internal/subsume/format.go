package subsume

import (
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// formatRow is what is known of a format beside its test: how many characters it has, which others take all of it, examples of growing
// length, strings that are not of it, and a pattern that all of its texts match.
type formatRow struct {
	format format.Format
	size   span
	within []string
	like   func(grown int) string
	unlike []string
	shape  string
}

// grow returns examples with some more characters in the middle.
func grow(before, unit, after string) func(int) string {
	return func(n int) string { return before + strings.Repeat(unit, n) + after }
}

// among returns one of the examples after the other.
func among(all ...string) func(int) string {
	return func(n int) string { return all[min(n, len(all)-1)] }
}

func atLeast(n int) span { return span{n, unbounded} }

// dates and times are at least as wide as the formats.
const (
	dates = `[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])`
	times = `[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})`
)

var formats = map[string]formatRow{
	"date-time": {format.DateTime, atLeast(20), nil, func(n int) string {
		return "2026-07-28T09:30:00" + strings.TrimSuffix("."+strings.Repeat("1", n), ".") + "Z"
	}, []string{"a"}, `\A` + dates + `[Tt]` + times + `\z`},
	"date": {format.Date, span{10, 10}, nil, among("2026-07-28", "2024-02-29", "1999-12-31", "2000-01-01"), []string{"a"}, `\A` + dates + `\z`},
	"time": {format.Time, atLeast(9), nil, func(n int) string {
		return "09:30:00" + strings.TrimSuffix("."+strings.Repeat("1", n), ".") + "Z"
	}, []string{"a"}, `\A` + times + `\z`},
	"duration":              {format.Duration, atLeast(3), nil, grow("P", "1", "1D"), []string{"a"}, `\AP[0-9A-Z]+\z`},
	"email":                 {format.Email, atLeast(3), []string{"idn-email"}, grow("a", "a", "@b.example"), []string{"a"}, ""},
	"idn-email":             {format.IDNEmail, atLeast(3), nil, grow("é", "a", "@b.example"), []string{"a"}, ""},
	"hostname":              {format.Hostname, span{1, 253}, []string{"idn-hostname"}, grow("a", "a", ""), []string{" "}, ""},
	"idn-hostname":          {format.IDNHostname, atLeast(1), nil, grow("ü", "a", ""), []string{" "}, ""},
	"ipv4":                  {format.IPv4, span{7, 15}, nil, among("1.1.1.1", "10.1.1.1", "10.10.1.1", "10.10.10.1", "10.10.10.10", "100.10.10.10", "100.100.10.10", "100.100.100.10", "100.100.100.100"), []string{"a"}, `\A[0-9]{1,3}(\.[0-9]{1,3}){3}\z`},
	"ipv6":                  {format.IPv6, span{2, 45}, nil, among("::", "::1", "::11", "::111", "::1111", "1::1111", "11::1111", "111::1111", "1111::1111"), []string{"a"}, `\A[0-9a-fA-F:.]{2,45}\z`},
	"uri":                   {format.URI, atLeast(2), []string{"uri-reference", "iri", "iri-reference"}, grow("a:", "a", ""), []string{" "}, ""},
	"uri-reference":         {format.URIReference, atLeast(0), []string{"iri-reference"}, grow("", "a", ""), []string{" "}, ""},
	"iri":                   {format.IRI, atLeast(2), []string{"iri-reference"}, grow("a:", "ü", ""), []string{" "}, ""},
	"iri-reference":         {format.IRIReference, atLeast(0), nil, grow("", "ü", ""), []string{" "}, ""},
	"uri-template":          {format.URITemplate, atLeast(0), nil, grow("", "a", ""), []string{"{"}, ""},
	"uuid":                  {format.UUID, span{36, 36}, nil, among("123e4567-e89b-12d3-a456-426614174000"), []string{"a"}, `\A[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\z`},
	"json-pointer":          {format.JSONPointer, atLeast(0), nil, func(n int) string { return strings.TrimSuffix("/"+strings.Repeat("a", n), "/") }, []string{"a"}, ""},
	"relative-json-pointer": {format.RelativeJSONPointer, atLeast(1), nil, func(n int) string { return "0" + strings.TrimSuffix("/"+strings.Repeat("a", n), "/") }, []string{"a"}, ""},
	"regex":                 {format.Regex, atLeast(0), nil, grow("", "a", ""), []string{"("}, ""},
}

// includes reports whether every text of one format is of the other, too.
func includes(wide, narrow string) bool {
	if wide == narrow {
		return true
	}
	for _, name := range formats[narrow].within {
		if name == wide {
			return true
		}
	}
	return false
}
