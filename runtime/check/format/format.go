// Package format validates strings, in linear time: by the formats of JSON Schema and by regular expressions of ECMA-262 (patterns). Generated rule
// tables name both. It is for those who change what a format accepts.
//
//	format.go              Format and its table; the short formats
//	time.go mail.go uri.go idn.go bidi.go
//	                       the others, each after its RFC
//	pattern.go             Pattern: tables for ASCII, regexp for the rest; ../pattern translates ECMA-262 to RE2
package format

import (
	"net/netip"
	"regexp/syntax"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
)

// Format is one of JSON Schema's formats, as an assertion.
type Format uint8

const (
	None Format = iota
	DateTime
	Date
	Time
	Duration
	Email
	IDNEmail
	Hostname
	IDNHostname
	IPv4
	IPv6
	URI
	URIReference
	IRI
	IRIReference
	URITemplate
	UUID
	JSONPointer
	RelativeJSONPointer
	Regex // ECMA-262 as far as RE2 has it, 64 KiB at most
	Byte  // base64, a format of the protocol's documents, not of JSON Schema
)

var formats = [...]struct {
	name  string
	match func(string) bool
	words string
}{
	DateTime:            {"date-time", isDateTime, "a date-time (RFC 3339) such as 2026-07-28T09:30:00Z"},
	Date:                {"date", isDate, "a date such as 2026-07-28"},
	Time:                {"time", isTime, "a time with an offset such as 09:30:00Z"},
	Duration:            {"duration", isDuration, "a duration (ISO 8601) such as P1DT2H"},
	Email:               {"email", isEmail, "an email address"},
	IDNEmail:            {"idn-email", isIDNEmail, "an email address"},
	Hostname:            {"hostname", isHostname, "a host name"},
	IDNHostname:         {"idn-hostname", isIDNHostname, "a host name"},
	IPv4:                {"ipv4", isIPv4, "an IPv4 address"},
	IPv6:                {"ipv6", isIPv6, "an IPv6 address"},
	URI:                 {"uri", isURI, "a URI with a scheme such as https://example.com/a"},
	URIReference:        {"uri-reference", isURIReference, "a URI or a relative reference"},
	IRI:                 {"iri", isIRI, "an IRI with a scheme"},
	IRIReference:        {"iri-reference", isIRIReference, "an IRI or a relative reference"},
	URITemplate:         {"uri-template", isURITemplate, "a URI template"},
	UUID:                {"uuid", isUUID, "a UUID such as 123e4567-e89b-12d3-a456-426614174000"},
	JSONPointer:         {"json-pointer", isJSONPointer, "a JSON Pointer such as /a/0"},
	RelativeJSONPointer: {"relative-json-pointer", isRelativeJSONPointer, "a relative JSON Pointer such as 1/a"},
	Regex:               {"regex", isRegex, "a regular expression (without lookaround and backreferences, 65536 bytes and 256 \\p at most)"},
	Byte:                {"byte", IsBase64[string], "base64 (RFC 4648, with padding)"},
}

// Named returns the format with that name in JSON Schema, None for one that is not asserted.
func Named(name string) Format {
	for f := DateTime; f < Byte; f++ {
		if formats[f].name == name {
			return f
		}
	}
	return None
}

// Match reports whether s has the format. None accepts everything.
func (f Format) Match(s string) bool { return f == None || formats[f].match(s) }

// Describe says in words what the format accepts.
func (f Format) Describe() string { return formats[f].words }

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	if strings.IndexByte(s, '%') >= 0 {
		return false
	}
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6()
}

// The length of a regular expression is bounded, and so is the number of Unicode classes in it, each of which costs as much as a
// thousand characters. Within these bounds an expression is validated in less than 100 ms (VAL07).
const (
	maxRegex   = 64 << 10
	maxClasses = 256
)

func isRegex(s string) bool {
	if len(s) > maxRegex || strings.Count(s, `\p`)+strings.Count(s, `\P`) > maxClasses {
		return false
	}
	source, err := pattern.RE2(s)
	if err == nil {
		_, err = syntax.Parse(source, syntax.Perl)
	}
	return err == nil
}

func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' &&
		allHex(s[:8]) && allHex(s[9:13]) && allHex(s[14:18]) && allHex(s[19:23]) && allHex(s[24:])
}

func allHex(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// base64Values are the values of the characters of base64, plus one.
var base64Values = func() (t [256]uint8) {
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		t[c] = uint8(i + 1)
	}
	return t
}()

// IsBase64 accepts the standard alphabet with padding, on one line. Bits after the last byte must be zero, so that the same bytes are always spelt the same.
func IsBase64[T string | []byte](s T) bool {
	n := len(s)
	for n > 0 && n > len(s)-2 && s[n-1] == '=' {
		n--
	}
	for i := range n {
		if base64Values[s[i]] == 0 {
			return false
		}
	}
	padding := len(s) - n
	return len(s)%4 == 0 && (padding == 0 || (base64Values[s[n-1]]-1)&(1<<(2*padding)-1) == 0)
}

func isJSONPointer(s string) bool {
	if s == "" {
		return true
	}
	if s[0] != '/' {
		return false
	}
	for i := range len(s) {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return true
}

func isRelativeJSONPointer(s string) bool {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n == 0 || n > 1 && s[0] == '0' {
		return false
	}
	return s[n:] == "#" || isJSONPointer(s[n:])
}

func isDigit(c byte) bool { return c-'0' <= 9 }
func isHex(c byte) bool   { return isDigit(c) || c|0x20-'a' <= 5 }
func isAlpha(c byte) bool { return c|0x20-'a' <= 25 }
