package subsume

import (
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// formatRow is what is known of a format beside its test: its length in characters, other formats that include it (within), examples of growing
// length, strings that do not have it, and a pattern (shape) that all of its texts match; exact says that no others do.
type formatRow struct {
	format format.Format
	size   span
	within []string
	like   func(grown int) string
	unlike []string
	shape  string
	exact  bool
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

// Shapes, without anchors. Where a pattern can not express a format, the shape allows more, but as little more as possible: the texts that are found
// with it are tested.
const (
	leapYears = `(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)`
	dates     = `(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|` + leapYears + `-02-29)`
	clock     = `(?:[01][0-9]|2[0-3]):[0-5][0-9]`
	times     = clock + `:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[+-]` + clock + `)` // the format allows second 60 only in 23:59:60 UTC
	days      = `(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)`
	hours     = `T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)`
	spans     = `P(?:[0-9]+W|` + days + `(?:` + hours + `)?|` + hours + `)`

	octet = `(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
	ipv4s = octet + `(?:\.` + octet + `){3}`
	label = `[0-9A-Za-z](?:[0-9A-Za-z-]*[0-9A-Za-z])?` // the format also limits it to 63 characters, and restricts A-labels (xn--)
	hosts = label + `(?:\.` + label + `)*`
	atext = `[0-9A-Za-z!#$%&'*+/=?^_{|}~\x60-]+`
	mails = `(?:` + atext + `(?:\.` + atext + `)*|"(?:[^"\\\x00-\x1f\x7f-\x{10ffff}]|\\[ -~])*")@(?:` + hosts + `|\[[0-9A-Za-z:.]+\])`

	escaped  = `%[0-9A-Fa-f]{2}`
	scheme   = `[A-Za-z][0-9A-Za-z+.-]*:`
	segments = `[0-9A-Za-z\-._~!$&'()*+,;=:@/]|` + escaped
	others   = `[\x{a0}-\x{10ffff}]|` // characters of IRIs that URIs do not have
	pointers = `(?:/(?:[^~/]|~[01])*)*`
	literals = `[^\x00- \x7f"%<>\\^\x60{|}]|` + escaped
)

// addresses is the shape of a URI after its scheme: a host and a path, a query and a fragment of these characters.
func addresses(chars string) string {
	return `(?://(?:` + chars + `|[\[\]])*|(?:` + chars + `)*)(?:\?(?:` + chars + `|\?)*)?(?:#(?:` + chars + `|\?)*)?`
}

func whole(shape string) string { return `\A(?:` + shape + `)\z` }

var formats = map[string]formatRow{
	"date-time": {format.DateTime, atLeast(20), nil, func(n int) string {
		return "2026-07-28T09:30:00" + strings.TrimSuffix("."+strings.Repeat("1", n), ".") + "Z"
	}, []string{"a"}, whole(dates + `[Tt]` + times), false},
	"date": {format.Date, span{10, 10}, nil, among("2026-07-28", "2024-02-29", "1999-12-31", "2000-01-01"), []string{"a"}, whole(dates), true},
	"time": {format.Time, atLeast(9), nil, func(n int) string {
		return "09:30:00" + strings.TrimSuffix("."+strings.Repeat("1", n), ".") + "Z"
	}, []string{"a"}, whole(times), false},
	"duration":              {format.Duration, atLeast(3), nil, grow("P", "1", "1D"), []string{"a"}, whole(spans), true},
	"email":                 {format.Email, atLeast(3), []string{"idn-email"}, grow("a", "a", "@b.example"), []string{"a"}, whole(mails), false},
	"idn-email":             {format.IDNEmail, atLeast(3), nil, grow("é", "a", "@b.example"), []string{"a"}, "", false},
	"hostname":              {format.Hostname, span{1, 253}, []string{"idn-hostname"}, grow("a", "a", ""), []string{" "}, whole(hosts), false},
	"idn-hostname":          {format.IDNHostname, atLeast(1), nil, grow("ü", "a", ""), []string{" "}, "", false},
	"ipv4":                  {format.IPv4, span{7, 15}, nil, among("1.1.1.1", "10.1.1.1", "10.10.1.1", "10.10.10.1", "10.10.10.10", "100.10.10.10", "100.100.10.10", "100.100.100.10", "100.100.100.100"), []string{"a"}, whole(ipv4s), true},
	"ipv6":                  {format.IPv6, span{2, 45}, nil, among("::", "::1", "::11", "::111", "::1111", "1::1111", "11::1111", "111::1111", "1111::1111"), []string{"a"}, whole(`[0-9a-fA-F:.]{2,45}`), false},
	"uri":                   {format.URI, atLeast(2), []string{"uri-reference", "iri", "iri-reference"}, grow("a:", "a", ""), []string{" "}, whole(scheme + addresses(segments)), false},
	"uri-reference":         {format.URIReference, atLeast(0), []string{"iri-reference"}, grow("", "a", ""), []string{" "}, whole(`(?:` + scheme + `)?` + addresses(segments)), false},
	"iri":                   {format.IRI, atLeast(2), []string{"iri-reference"}, grow("a:", "ü", ""), []string{" "}, whole(scheme + addresses(others+segments)), false},
	"iri-reference":         {format.IRIReference, atLeast(0), nil, grow("", "ü", ""), []string{" "}, whole(`(?:` + scheme + `)?` + addresses(others+segments)), false},
	"uri-template":          {format.URITemplate, atLeast(0), nil, grow("", "a", ""), []string{"{"}, whole(`(?:` + literals + `|\{[+#./;?&=,!@|]?[0-9A-Za-z_%.,*:]+\})*`), false},
	"uuid":                  {format.UUID, span{36, 36}, nil, among("123e4567-e89b-12d3-a456-426614174000"), []string{"a"}, whole(`[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`), true},
	"json-pointer":          {format.JSONPointer, atLeast(0), nil, func(n int) string { return strings.TrimSuffix("/"+strings.Repeat("a", n), "/") }, []string{"a"}, whole(pointers), true},
	"relative-json-pointer": {format.RelativeJSONPointer, atLeast(1), nil, func(n int) string { return "0" + strings.TrimSuffix("/"+strings.Repeat("a", n), "/") }, []string{"a"}, whole(`(?:0|[1-9][0-9]*)(?:#|` + pointers + `)`), true},
	"regex":                 {format.Regex, atLeast(0), nil, grow("", "a", ""), []string{"("}, "", false},
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
