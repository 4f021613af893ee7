package format_test

import (
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// TestFormats holds what is easily got wrong in each format.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		name      string
		format    format.Format
		good, bad []string
	}{
		{"none", format.None, []string{"", "anything"}, nil},
		{"date-time", format.DateTime,
			[]string{"2026-07-28T09:30:00Z", "2026-07-28t09:30:00.123456789z", "2026-07-28T09:30:00+05:30", "1998-12-31T23:59:60Z", "1998-12-31T15:59:60.5-08:00", "2024-02-29T00:00:00Z"},
			[]string{"", "2026-07-28", "2026-07-28 09:30:00Z", "2026-07-28T09:30:00", "2026-07-28T24:00:00Z", "1998-12-31T22:59:60Z", "2026-07-28T09:30:00.Z", "2026-07-28T09:30:00+24:00", "2026-07-28T09:30:00+0530", "2023-02-29T00:00:00Z", "2026-07-28T09:30Z", "२026-07-28T09:30:00Z"}},
		{"date", format.Date, []string{"2026-07-28", "2000-02-29"}, []string{"2026-7-28", "1900-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "20260728", "2026-07-28Z"}},
		{"time", format.Time, []string{"09:30:00Z", "23:59:60Z", "00:29:60+00:30"}, []string{"09:30:00", "9:30:00Z", "09:60:00Z", "12:00:60Z", "09:30:00 Z"}},
		{"duration", format.Duration, []string{"P1D", "PT36H", "P1Y2M3DT4H5M6S", "P2W", "PT1M30S"}, []string{"P", "PT", "P1", "1D", "P1DT", "P1D2Y", "P1W2D", "PT1D", "P-1D", "P1.5D", "P1H"}},
		{"email", format.Email,
			[]string{"a@b.c", "te~st.x@example.com", `"a b"@example.com`, `"a\"b"@example.com`, "a@[127.0.0.1]", "a@[IPv6:::1]"},
			[]string{"", "a", "@b.c", "a@", ".a@b.c", "a.@b.c", "a..b@c.d", "a b@c.d", "a@b_c.d", "a@[127.0.0.300]", "a@b@c.d", "ü@b.c", `"a@b.c`}},
		{"idn-email", format.IDNEmail, []string{"ü@bücher.example", "a@b.c"}, []string{"ü", "ü@-b.c"}},
		{"hostname", format.Hostname, []string{"a", "www.example.com", "1and1.example", "a-b", "xn--bcher-kva.example", "xn--4gbwdl.xn--wgbh1c"}, []string{"", "xn--X", "ab--c", "xn---9uc", "xn--0ca24w", "xn--l-fda", "-a", "a-", "a_b", "a..b", "a.", ".a", "ü.example"}},
		{"idn-hostname", format.IDNHostname,
			[]string{"bücher.example", "실례.테스트", "a。b", "l·l", "\u0915\u094d\u200d\u0937", "אב1.גד"},
			[]string{"", "a..b", "\u302e실례", "l·", "Bücher", "aא", "0a.א", "א0٠", "٠۰", "\u0915\u200d", "ß-", "・", strings.Repeat("실", 60)}},
		{"ipv4", format.IPv4, []string{"127.0.0.1"}, []string{"127.0.0", "127.0.0.01", "256.0.0.1", "::1", "1.2.3.4/24"}},
		{"ipv6", format.IPv6, []string{"::1", "2001:db8::7", "::ffff:1.2.3.4"}, []string{"1.2.3.4", "::1%eth0", "12345::", "1::2::3", ":1"}},
		{"byte", format.Byte,
			[]string{"", "AA==", "AAA=", "AAAA", "+/8=", "eHh4"},
			[]string{"A", "AA", "AA=", "A===", "====", "=", "AB==", "AAB=", "AA==AA==", "AAA", "AA A", "AAA\n", "AA\n==", "-_8=", "é==="}},
		{"uri", format.URI,
			[]string{"https://example.com/a?b=c#d", "mailto:a@b.c", "urn:isbn:1", "http://user:pw@[2001:db8::1]:80/%41", "a:", "ldap://[v1.x:y]/"},
			[]string{"", "/a", "//a/b", "a", "http://a b", "http://a/%4", `http://a\b`, "http://a/<>", "1a:b", "http://[1.2.3.4]", "http://a:b/", "http://é/", "http://[::1%eth0]/"}},
		{"uri-reference", format.URIReference, []string{"", "a", "/a/b", "//a/b", "?q", "#f", "./a:b"}, []string{"a:b c", "1:a", "#a b", "\\a"}},
		{"iri", format.IRI, []string{"http://é.example/ü?ß#ø"}, []string{"é", "http://a/\u0080"}},
		{"iri-reference", format.IRIReference, []string{"/é", "é"}, []string{"é é"}},
		{"uri-template", format.URITemplate, []string{"", "a{b}", "{+a,b*,c:3}", "{?a.b}/{/c}", "it's"}, []string{"{", "}", "{}", "{a b}", "{a:0}", "{a}}", "a b", "%4"}},
		{"uuid", format.UUID, []string{"123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000000", "123E4567-E89B-12D3-A456-426614174000"}, []string{"", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g", "{123e4567-e89b-12d3-a456-42661417400}"}},
		{"json-pointer", format.JSONPointer, []string{"", "/", "/a~0b~1c", "/é/"}, []string{"a", "/~", "/~2", "#/a"}},
		{"relative-json-pointer", format.RelativeJSONPointer, []string{"0", "1/a", "10#"}, []string{"", "/a", "-1", "01", "0##", "1a"}},
		{"regex", format.Regex, []string{"", "^a+$"}, []string{"(", "a**", `\Z`}},
	} {
		for _, s := range c.good {
			if !c.format.Match(s) {
				t.Errorf("%s refuses %q", c.name, s)
			}
		}
		for _, s := range c.bad {
			if c.format.Match(s) {
				t.Errorf("%s takes %q", c.name, s)
			}
		}
	}
}

// The work on a text that is to be a regular expression is bounded, whatever stands in it.
func TestVAL07RegexesAreBounded(t *testing.T) {
	for _, test := range []struct {
		text string
		want bool
	}{
		{strings.Repeat("a", 64<<10), true}, {strings.Repeat("a", 64<<10+1), false}, {strings.Repeat(`\pL`, 256), true}, {strings.Repeat(`\pL`, 257), false},
		{strings.Repeat(`(`, 60000), false}, {strings.Repeat(`(?<`, 20000), false}, {strings.Repeat("x{1000}", 9000), false}, {strings.Repeat(`\s`, 30000), true}, {strings.Repeat(`[^]`, 20000), true},
		{`((((a{30}){30}){30}){30})`, false}, {`^\s\u00A0[^]$`, true},
	} {
		if got := format.Regex.Match(test.text); got != test.want {
			t.Errorf("%.20s… of %d bytes: %t", test.text, len(test.text), got)
		}
	}
}
