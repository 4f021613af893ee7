package format

import (
	"net/netip"
	"strings"
	"unicode/utf8"
)

// Character classes of RFC 3986. uriChars has them as a table, because addresses are validated byte by byte.
const (
	userChars  = 1 << iota // userinfo and reg-name without ':': unreserved, sub-delims
	pathChars              // pchar and '/'
	queryChars             // pathChars and '?'
)

var uriChars = func() (t [utf8.RuneSelf]uint8) {
	set := func(chars string, class uint8) {
		for i := range len(chars) {
			t[chars[i]] |= class
		}
	}
	all := uint8(userChars | pathChars | queryChars)
	set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=", all)
	set(":@/", pathChars|queryChars)
	set("?", queryChars)
	return t
}()

func isURI(s string) bool          { return validURI(s, false, true) }
func isURIReference(s string) bool { return validURI(s, false, false) }
func isIRI(s string) bool          { return validURI(s, true, true) }
func isIRIReference(s string) bool { return validURI(s, true, false) }

// validURI validates s by RFC 3986, or with international by RFC 3987. With absolute, s must have a scheme.
func validURI(s string, international, absolute bool) bool {
	s, fragment, _ := strings.Cut(s, "#")
	s, query, _ := strings.Cut(s, "?")
	if !uriPart(fragment, queryChars, international) || !uriPart(query, queryChars, international) {
		return false
	}
	scheme := schemeLen(s)
	if scheme > 0 {
		s = s[scheme+1:]
	} else if absolute {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		authority, path := rest, ""
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			authority, path = rest[:i], rest[i:]
		}
		return validAuthority(authority, international) && uriPart(path, pathChars, international)
	}
	first, _, _ := strings.Cut(s, "/")
	if scheme == 0 && strings.IndexByte(first, ':') >= 0 {
		return false // it would be read as a scheme
	}
	return uriPart(s, pathChars, international)
}

// schemeLen returns the length of the scheme, 0 if s does not begin with one and its colon.
func schemeLen(s string) int {
	for i := range len(s) {
		c := s[i]
		switch {
		case isAlpha(c):
		case i > 0 && c == ':':
			return i
		case i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		default:
			return 0
		}
	}
	return 0
}

func validAuthority(s string, international bool) bool {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		if !uriPart(strings.ReplaceAll(s[:i], ":", ""), userChars, international) {
			return false
		}
		s = s[i+1:]
	}
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		i := strings.IndexByte(s, ']')
		if i < 0 || !isIPLiteral(s[1:i]) {
			return false
		}
		if host, port = "", s[i+1:]; port == "" {
			return true
		}
		if port[0] != ':' {
			return false
		}
		port = port[1:]
	} else if i := strings.IndexByte(s, ':'); i >= 0 {
		host, port = s[:i], s[i+1:]
	}
	return uriPart(host, userChars, international) && digitsAt(port, 0) == len(port)
}

func isIPLiteral(s string) bool {
	if s != "" && s[0]|0x20 == 'v' { // IPvFuture
		version, rest, ok := strings.Cut(s[1:], ".")
		for i := range len(version) {
			ok = ok && isHex(version[i])
		}
		return ok && version != "" && rest != "" && !strings.Contains(rest, "%") && uriPart(strings.ReplaceAll(rest, ":", ""), userChars, false)
	}
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

// uriPart validates the characters and the percent encoding of a part that may have the characters of class.
func uriPart(s string, class uint8, international bool) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			if !international {
				return false
			}
			r, size := utf8.DecodeRuneInString(s[i:])
			if !isUCS(r) {
				return false
			}
			i += size - 1
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return false
			}
			i += 2
		case uriChars[c]&class == 0:
			return false
		}
	}
	return true
}

// isUCS reports whether r is a ucschar or iprivate of RFC 3987.
func isUCS(r rune) bool {
	return r >= 0xa0 && r&0xfffe != 0xfffe && (r < 0xfdd0 || r > 0xfdef) && r != utf8.RuneError
}

// isURITemplate accepts RFC 6570: literals and expressions in braces.
func isURITemplate(s string) bool {
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			return templateLiteral(s)
		}
		end := strings.IndexByte(s, '}')
		if s[i] == '}' || end < 0 || !templateLiteral(s[:i]) || !templateExpression(s[i+1:end]) {
			return false
		}
		s = s[end+1:]
	}
	return true
}

func templateLiteral(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == 0x7f || strings.IndexByte("\"<>\\^`|", c) >= 0 {
			return false
		}
		if s[i] == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])) {
			return false
		}
	}
	return true
}

func templateExpression(s string) bool {
	if s != "" && strings.IndexByte("+#./;?&=,!@|", s[0]) >= 0 {
		s = s[1:]
	}
	for _, v := range strings.Split(s, ",") {
		name, length, cut := strings.Cut(strings.TrimSuffix(v, "*"), ":")
		if cut && (length == "" || len(length) > 4 || length[0] == '0' || digitsAt(length, 0) != len(length)) {
			return false
		}
		for _, part := range strings.Split(name, ".") {
			if part == "" {
				return false
			}
			for i := range len(part) {
				if c := part[i]; !isAlpha(c) && !isDigit(c) && c != '_' && c != '%' {
					return false
				}
			}
		}
	}
	return true
}
