package check

import (
	"cmp"
	"strconv"
)

// Limits bound what a value may cost (VAL07). A zero field means its default.
type Limits struct {
	Depth       int // nested objects and arrays; 512
	Bytes       int // length of the whole text; 16 MiB
	NumberBytes int // length of one number; a limit below 20 counts as 20; 1024
	Violations  int // how many are listed; 32
	Decoded     int // bytes that decoded values take beyond their text, see Account; 64 MiB
	// Evaluations bounds what is done once the memo of outcomes was full: how many subschemas are tried, and how many KiB are read again for
	// them. 64 subschemas and 64 bytes for each byte of the text do not count; 10,000
	Evaluations int
}

// Reason names what a LimitError refused.
type Reason uint8

const (
	TooDeep Reason = iota + 1
	TooLong
	NumberTooLong
	NumberTooLarge // exponent beyond ±1,000,000 where the exact value is needed
	InvalidUTF8
	LoneSurrogate
	DuplicateKey
	TooManyEvaluations
	TooLarge // the decoded value
)

// LimitError says why JSON was refused that encoding/json would accept (VAL07).
type LimitError struct {
	Reason Reason
	Offset int    // in bytes
	Max    int    // the limit that was exceeded; 0 where there is no number
	Detail string // the repeated key, quoted and shortened
}

func (e *LimitError) Error() string {
	at := " at byte " + strconv.Itoa(e.Offset)
	limit := strconv.Itoa(e.Max)
	switch e.Reason {
	case TooDeep:
		return "nested deeper than the limit of " + limit + " levels" + at
	case TooLong:
		return "longer than the limit of " + limit + " bytes"
	case NumberTooLong:
		return "a number longer than the limit of " + limit + " bytes" + at
	case NumberTooLarge:
		return "a number whose exponent is beyond the limit of " + limit + at
	case InvalidUTF8:
		return "a string that is not valid UTF-8" + at
	case LoneSurrogate:
		return "a string with half of a surrogate pair" + at
	case DuplicateKey:
		return "the repeated key " + e.Detail + at
	case TooLarge:
		return "larger than the limit of " + limit + " decoded bytes" + at
	default:
		return "more subschema evaluations than the limit of " + limit + at
	}
}

// SyntaxError says that the text is not JSON.
type SyntaxError struct {
	Offset int // in bytes
	Want   string
	Found  string // the offending character, quoted; "" at the end of the text
}

func (e *SyntaxError) Error() string {
	found := e.Found
	if found == "" {
		found = "the end"
	}
	return "not JSON: found " + found + " at byte " + strconv.Itoa(e.Offset) + ", expected " + e.Want
}

const (
	defaultDepth       = 512
	defaultBytes       = 16 << 20
	defaultNumberBytes = 1024
	defaultViolations  = 32
	defaultEvaluations = 10_000
	defaultDecoded     = 64 << 20
	maxExponent        = 1_000_000
)

var defaults = Limits{Depth: defaultDepth, Bytes: defaultBytes, NumberBytes: defaultNumberBytes, Violations: defaultViolations, Evaluations: defaultEvaluations, Decoded: defaultDecoded}

func (l Limits) withDefaults() Limits {
	return Limits{
		Depth:       cmp.Or(l.Depth, defaultDepth),
		Bytes:       cmp.Or(l.Bytes, defaultBytes),
		NumberBytes: max(20, cmp.Or(l.NumberBytes, defaultNumberBytes)), // shorter numbers are read without comparing
		Violations:  cmp.Or(l.Violations, defaultViolations),
		Evaluations: cmp.Or(l.Evaluations, defaultEvaluations),
		Decoded:     cmp.Or(l.Decoded, defaultDecoded),
	}
}
