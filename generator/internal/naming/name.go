package naming

import (
	"crypto/sha256"
	"fmt"
	"go/token"
	"hash/fnv"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// initialisms are the words that Go writes in one case. A new row needs a line in the golden names.txtar.
var initialisms = map[string]string{
	"acl": "ACL", "api": "API", "ascii": "ASCII", "cpu": "CPU", "css": "CSS", "csv": "CSV", "db": "DB", "dns": "DNS",
	"eof": "EOF", "guid": "GUID", "html": "HTML", "http": "HTTP", "https": "HTTPS", "id": "ID", "ids": "IDs", "io": "IO",
	"ip": "IP", "json": "JSON", "jwt": "JWT", "mcp": "MCP", "md5": "MD5", "mime": "MIME", "ok": "OK", "os": "OS", "pdf": "PDF", "pr": "PR",
	"ram": "RAM", "rpc": "RPC", "sdk": "SDK", "sha": "SHA", "sla": "SLA", "sql": "SQL", "ssh": "SSH", "svg": "SVG",
	"tcp": "TCP", "tls": "TLS", "ttl": "TTL", "udp": "UDP", "ui": "UI", "uri": "URI", "uris": "URIs", "url": "URL",
	"urls": "URLs", "utc": "UTC", "utf8": "UTF8", "uuid": "UUID", "vm": "VM", "xml": "XML", "yaml": "YAML",
}

// GoName returns text as an exported Go identifier: get_quote is GetQuote, batchId is BatchID. It is never empty.
func GoName(text string) string {
	name := GoWords(text)
	first, _ := utf8.DecodeRuneInString(name)
	if !unicode.IsUpper(first) {
		name = "X" + name // digits, scripts without case, and nothing at all
	}
	return name
}

// GoWords is GoName for a later part of a name, where it may begin with a digit or be empty.
func GoWords(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 8)
	for _, word := range Each(text) {
		writeWord(&b, word)
	}
	return b.String()
}

// Unexported returns an exported name with its first word in lower case: GetQuote is getQuote, URLList is urlList, and
// IDs is ids.
func Unexported(name string) string {
	runes := []rune(name)
	if _, ok := initialisms[strings.ToLower(name)]; ok {
		return strings.ToLower(name)
	}
	n := 0
	for n < len(runes) && unicode.IsUpper(runes[n]) {
		n++
	}
	if n > 1 && n < len(runes) && unicode.IsLower(runes[n]) {
		n-- // the last capital begins the next word
	}
	for i := range n {
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}

func writeWord(b *strings.Builder, word string) {
	if upper, ok := initialism(word); ok {
		b.WriteString(upper)
		return
	}
	first, size := utf8.DecodeRuneInString(word)
	b.WriteRune(unicode.ToUpper(first))
	b.WriteString(word[size:])
}

// initialism is how Go writes a word of the table, whatever its case.
func initialism(word string) (string, bool) {
	var lower [8]byte // no initialism is longer
	if len(word) > len(lower) {
		return "", false
	}
	for i := range len(word) {
		lower[i] = word[i]
		if 'A' <= word[i] && word[i] <= 'Z' {
			lower[i] += 'a' - 'A'
		}
	}
	upper, ok := initialisms[string(lower[:len(word)])]
	return upper, ok
}

// symbols are words for symbols, for a text that has nothing else, such as an operator.
var symbols = map[rune]string{
	'!': "not", '"': "quote", '#': "hash", '$': "dollar", '%': "percent", '&': "and", '\'': "apostrophe", '(': "open", ')': "close",
	'*': "star", '+': "plus", ',': "comma", '-': "minus", '.': "dot", '/': "slash", ':': "colon", ';': "semicolon", '<': "less",
	'=': "equal", '>': "greater", '?': "question", '@': "at", '[': "open", '\\': "backslash", ']': "close", '^': "caret",
	'_': "underscore", '`': "backquote", '{': "open", '|': "or", '}': "close", '~': "tilde",
}

// Each yields the words of a text with their offsets. It splits at everything that is neither letter nor digit, and where a
// capital begins a word: userId, HTTPServer. A text of symbols alone is spelt: <= is less equal.
func Each(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		if !strings.ContainsFunc(text, isWord) {
			spelt(text, yield)
			return
		}
		start, before := -1, ' '
		for i, r := range text {
			word := isWord(r)
			ends := !word || start >= 0 && rises(before, r, text[i:])
			if ends && start >= 0 && !yield(start, text[start:i]) {
				return
			}
			switch {
			case !word:
				start = -1
			case ends || start < 0:
				start = i
			}
			before = r
		}
		if start >= 0 {
			yield(start, text[start:])
		}
	}
}

// Words are all of Each.
func Words(text string) (all []string) {
	for _, word := range Each(text) {
		all = append(all, word)
	}
	return all
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// rises reports whether r is a capital letter that begins a word: after a lower case letter, or before one.
func rises(before, r rune, rest string) bool {
	if !unicode.IsUpper(r) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest[utf8.RuneLen(r):])
	return !unicode.IsUpper(before) || unicode.IsLower(next)
}

func spelt(text string, yield func(int, string) bool) {
	for i, r := range text {
		if word, ok := symbols[r]; ok && !yield(i, word) {
			return
		}
	}
}

// Distinct returns the Go word of each text. Where several would have the same, each is spelt with its symbols (_meta beside meta
// is UnderscoreMeta), or gets a suffix that follows from the text alone: a number would move to another text when one is added,
// and code that uses the name would silently mean that.
func Distinct(texts []string, word func(string) string) []string {
	all := make([]string, len(texts))
	times := make(map[string]int, 2*len(texts))
	for i, text := range texts {
		all[i] = word(text)
		times[all[i]]++
	}
	if len(times) == len(texts) {
		return all
	}
	spelt := make(map[string]int)
	for i, text := range texts {
		if times[all[i]] > 1 {
			spelt[word(spell(text))]++
		}
	}
	short := make(map[string]int) // how many have a name after they got a suffix
	for i, text := range texts {
		if name := word(spell(text)); times[all[i]] > 1 {
			if spelt[name] > 1 || name != all[i] && times[name] > 0 {
				name = all[i] + suffix(text)
			}
			all[i] = name
		}
		short[all[i]]++
	}
	for i, text := range texts {
		if own := word(text); short[all[i]] > 1 && all[i] != own { // two suffixes are the same, or one makes the name of another text
			all[i] = own + longSuffix(text)
		}
	}
	return all
}

// spell returns text with words for its symbols.
func spell(text string) string {
	var b strings.Builder
	for _, r := range text {
		if word, ok := symbols[r]; ok {
			b.WriteString(" " + word + " ")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// standardMethods are the methods whose signature go vet (stdmethods) checks, because interfaces of the standard library have them.
var standardMethods = wordSet("GobDecode GobEncode MarshalJSON MarshalXML ReadByte ReadRune UnmarshalJSON UnmarshalXML UnreadByte UnreadRune WriteByte")

// IsStandardMethod reports whether go vet wants a method of that name to have the standard library's signature.
func IsStandardMethod(name string) bool { return standardMethods[name] }

// Method returns name for a method, with a suffix that follows from text if IsStandardMethod(name).
func Method(name, text string) string {
	if IsStandardMethod(name) {
		name += suffix(text)
	}
	return name
}

// Names hands out identifiers, each once. The zero value is ready for use.
type Names struct {
	taken map[string]bool
	next  map[string]int // the lowest number that may be free as a suffix of a name
}

// Take returns name, or if that is taken or can not be declared, name with the lowest number from 2 that is free.
func (n *Names) Take(name string) string { return n.take(name, reserved) }

// TakeFile is Take for the name of a file, which is never declared.
func (n *Names) TakeFile(name string) string {
	return n.take(name, func(string) bool { return false })
}

func (n *Names) take(name string, refused func(string) bool) string {
	if n.taken == nil {
		n.taken, n.next = map[string]bool{}, map[string]int{}
	}
	free := name
	for i := max(2, n.next[name]); n.taken[free] || refused(free); i++ {
		free = name + strconv.Itoa(i)
		n.next[name] = i + 1 // names are never given back
	}
	n.taken[free] = true
	return free
}

// TakeFor is Take for a name that users see: if it is taken, it gets a suffix that follows from text, so that changes elsewhere do
// not rename it.
func (n *Names) TakeFor(name, text string) string {
	if n.taken[name] || reserved(name) {
		name += suffix(text)
	}
	return n.Take(name)
}

// Taken reports whether name was handed out.
func (n *Names) Taken(name string) bool { return n.taken[name] }

// predeclared are Go's predeclared identifiers and the packages and variables that generated code uses: a
// package-level declaration of that name would conflict with them.
var predeclared = wordSet("any append bool byte cap clear close comparable complex complex128 complex64 copy delete " +
	"error false float32 float64 imag int int16 int32 int64 int8 iota len make max min new nil panic print println real " +
	"recover rune string true uint uint16 uint32 uint64 uint8 uintptr init main _ " +
	"check client context errors fmt form format server task time rpc b c d e f h i k m n ok t u v in out call opts ctx")

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

func reserved(name string) bool { return predeclared[name] || token.IsKeyword(name) }

// suffix distinguishes names that would be the same.
func suffix(text string) string {
	h := fnv.New32a()
	h.Write([]byte(text))
	return fmt.Sprintf("X%04x", h.Sum32()>>16)
}

// longSuffix is a suffix for the few texts whose short ones are the same.
func longSuffix(text string) string {
	h := sha256.Sum256([]byte(text))
	return fmt.Sprintf("X%x", h[:8])
}
