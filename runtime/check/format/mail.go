package format

import (
	"strings"
	"unicode/utf8"
)

// isHostname accepts host names of RFC 1123.
func isHostname(s string) bool { return validHost(s, false) }

// validHost accepts a host name; with international, its labels may be U-labels, too.
func validHost(s string, international bool) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for s != "" {
		label, rest, dot := strings.Cut(s, ".")
		if !validLabel(label, international) || dot && rest == "" {
			return false
		}
		s = rest
	}
	return true
}

func validLabel(s string, international bool) bool {
	if s == "" || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return international && validUnicodeLabel([]rune(s))
		}
		if !isAlpha(c) && !isDigit(c) && c != '-' {
			return false
		}
	}
	if len(s) > 63 {
		return false
	}
	if len(s) >= 4 && s[2] == '-' && s[3] == '-' { // reserved for A-labels
		return s[0]|0x20 == 'x' && s[1]|0x20 == 'n' && validPunycode(s[4:])
	}
	return true
}

func isEmail(s string) bool    { return validMail(s, false) }
func isIDNEmail(s string) bool { return validMail(s, true) }

// validMail accepts a mailbox of RFC 5321, with international also one of RFC 6531.
func validMail(s string, international bool) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 && !international {
		return false
	}
	local, domain := s[:at], s[at+1:]
	if literal, ok := strings.CutPrefix(domain, "["); ok {
		literal, ok = strings.CutSuffix(literal, "]")
		if v6, is6 := strings.CutPrefix(literal, "IPv6:"); is6 {
			ok = ok && isIPv6(v6)
		} else {
			ok = ok && isIPv4(literal)
		}
		if !ok {
			return false
		}
	} else if !validHost(domain, international) {
		return false
	}
	if local[0] == '"' {
		return quotedLocal(local, international)
	}
	for _, atom := range strings.Split(local, ".") {
		if !validAtom(atom, international) {
			return false
		}
	}
	return true
}

func validAtom(s string, international bool) bool {
	for i := range len(s) {
		c := s[i]
		if !isAlpha(c) && !isDigit(c) && strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) < 0 && (!international || c < utf8.RuneSelf) {
			return false
		}
	}
	return s != ""
}

func quotedLocal(s string, international bool) bool {
	if len(s) < 2 || s[len(s)-1] != '"' {
		return false
	}
	s = s[1 : len(s)-1]
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			i++
			if i == len(s) || s[i] < ' ' || s[i] > '~' {
				return false
			}
			continue
		}
		if c == '"' || c < ' ' || c == 0x7f || c >= utf8.RuneSelf && !international {
			return false
		}
	}
	return true
}
