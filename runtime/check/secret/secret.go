// Package secret finds forms (elicitations in form mode) that ask for secrets. What the user writes into a form passes through the client, and often
// through its model, so the specification forbids asking for secrets in one (LET04). The generator refuses such a question in the manifest, and the
// runtime refuses one that a handler asks. It is for those who change what counts as a secret.
//
// It guesses by words. A name or title means a secret if it ends with the words for one, or goes on with a word that does not change that:
// databasePassword and password_again, but not passwordPolicy. So does a description that begins with such words (your API key), and a description or
// message that asks for a secret (enter your password). A number is a secret only where secrets are written in digits, such as a PIN or the number of a
// card: a number of tokens is a count. A choice of given values is no secret, nor is a string with a format, nor a field with x-sensitive: false, as a
// session_id of a conference needs it.
package secret

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

// Remedy says what to do instead of asking for a secret in a form.
const Remedy = "ask with a URL question (methods: [elicitation/create], mode url), where the client does not see the answer; " +
	"if it is none, say x-sensitive: false at the field"

// Field is a field of a form into which something is typed.
type Field struct {
	Name, Title, Description string
	Message                  string // of the form
	Number                   bool   // what is typed is a number, not text
}

// Asked says why a form must not have the field, that is, which words ask for a secret; "" if none do.
func (f *Field) Asked() string {
	p := anySecret
	if f.Number {
		p = numberSecret
	}
	by := ""
	switch {
	case p.named(f.Name) || p.named(f.Title) || !f.Number && alone().MatchString(words(f.Name)):
		by = fmt.Sprintf("%.80q is named like one", f.Name)
	case asks(f.Description, p.beginsWith) || asks(f.Description, p.wants):
		by = fmt.Sprintf("the description of %.80q asks for one", f.Name)
	case asks(f.Message, p.wants):
		by = fmt.Sprintf("the message asks for one, which could be written into %.80q", f.Name)
	default:
		return ""
	}
	return "a form must not ask for secrets, and " + by
}

// digits are phrases for secrets that are numbers, or may be written as numbers.
var digits = []string{
	`pass ?codes?`, `(?:credit|debit|payment|bank) ?card(?: ?(?:number|no))?`, `card ?(?:number|no)`, `bank ?account ?(?:number|no)`, `cvv`, `cvc`, `cvn`, `csc`,
	`(?:security|otp|totp|2 ?fa|mfa|two ?factor|one ?time|authenticator|verification|sms|login|recovery|backup) ?(?:codes?|pass ?(?:words?|codes?)|pin)`, `t?otp`,
	`(?:atm|bank|card|login|phone|sim|security) ?pin(?: ?codes?)?`, `pin(?: ?(?:number|no))?`, `personal ?identification ?number`, `ssn`, `social ?security ?(?:number|no)`,
}

// texts are phrases for secrets that are never a number: a number of tokens or passwords is a count.
var texts = []string{
	`pass ?words?`, `pass ?phrases?`, `pass ?keys?`, `passwd`, `passwrd`, `pswd`, `pwd`, `(?:user|db|database|login|admin|root|master|smtp|mail|email|ftp|ssh|wi ?fi|confirm) ?pass`,
	`secrets?`, `credentials?`, `creds`,
	`(?:api|app|access|private|secret|signing|encryption|decryption|master|deploy|hmac|root|admin|service ?account|subscription|consumer|ssh|gpg|pgp|recovery|account|license) ?keys?`, `id ?rsa`,
	`(?:api|access|auth|bearer|refresh|session|security|personal access|id) ?tokens?`, `token`, `bearer`, `jwt`, `session ?ids?`, `(?:session|auth|login) ?cookies?`,
	`auth(?:entication|orization)? ?(?:keys?|codes?|headers?)`, `conn(?:ection)? ?str(?:ings?)?`, `security ?answers?`,
	`(?:seed|recovery|backup|mnemonic) ?(?:phrase|words)`, `mnemonic`,
}

// alone matches names that mean a secret only if they have no other words: pass, but not boarding pass.
var alone = lazyregexp.New(`^ ?(?:pass|pw|psw|cookie) ?$`)

// patterns find some secrets in text of lower case (see words). Each matches a phrase for a secret and, as its only group, the word after it.
type patterns struct {
	phrases    pattern // the phrase anywhere
	beginsWith pattern // the phrase at the beginning of a description
	wants      pattern // a request for what the phrase means
}

// pattern is a regular expression that is compiled when it is first needed: all of them take a megabyte and a millisecond, which a program
// without forms does not pay.
type pattern func() *regexp.Regexp

func patternsOf(secrets ...string) *patterns {
	phrase := `\b(?:` + strings.Join(secrets, "|") + `)\b(?: ([a-z]+))?`
	return &patterns{
		lazyregexp.New(phrase), lazyregexp.New(`^ ?` + before + phrase),
		lazyregexp.New(`\b(?:enter|type|provide|give|supply|input|paste|insert|submit|tell|specify|need|what is) ` + before + phrase),
	}
}

var (
	anySecret    = patternsOf(slices.Concat(digits, texts)...)
	numberSecret = patternsOf(digits...)
)

// before matches the words before a phrase: articles and the like, and up to two more, such as whose secret it is (git hub).
const before = `(?:(?:me|us|in|here|the|a|an|your|our|my|new|old|current|existing|valid) ){0,4}(?:[a-z0-9]+ ){0,2}`

// otherwise matches a word between a request and a phrase which shows that the user is not asked to enter the secret, as in "enter the number of secrets".
var otherwise = lazyregexp.New(`\b(?:of|for|to|about|without|instead|no|not|never|don t|dont|than|or|and|with|by|from|on|whether|which|rotate|delete|revoke|reset)\b`)

// about matches a word after a phrase with which the two mean something about a secret, not the secret.
var about = lazyregexp.New(`^(?:policy|policies|manager|managers|length|strength|rules?|hint|name|names|id|ids|type|types|kind|count|limit|limits|usage|budget|` +
	`expiry|expires|expiration|age|rotation|format|url|uri|link|page|store|vault|provider|issuer|brand|holder|owner|scope|scopes|location|position|color|colour|icon|` +
	`board|map|reset|required|enabled|per)$`)

// Where words splits a name: at a capital, and between letters and digits; other has all characters that words are not made of.
var (
	wordEnd = lazyregexp.New(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)
	number  = lazyregexp.New(`([A-Za-z])([0-9])|([0-9])([A-Za-z])`)
	other   = lazyregexp.New(`[^a-z0-9]+`)
)

// not matches a word before a request that negates it.
var not = lazyregexp.New(`\b(?:not|never|don t|dont|cannot) $`)

// stated matches a word after a phrase that makes the secret the subject of a statement.
var stated = lazyregexp.New(`^(?:is|was|has|had|will|must|can|may|should|expired?|and)$`)

// words splits a name or text into words of lower case with a blank between them: apiKey, API_KEY and api-key are "api key".
func words(name string) string {
	name = wordEnd().ReplaceAllString(name, "$1$3 $2$4")
	name = number().ReplaceAllString(name, "$1$3 $2$4")
	return other().ReplaceAllString(strings.ToLower(name), " ")
}

// named reports whether a name, or a title, is that of a secret.
func (p *patterns) named(name string) bool {
	text := words(name)
	for {
		m := p.phrases().FindStringSubmatchIndex(text)
		if m == nil {
			return false
		}
		if means(text, m) {
			return true
		}
		text = text[m[2]:]
	}
}

// means reports whether a phrase, matched at m, still means a secret with the word after it. A PIN code is a postal code in India.
func means(text string, m []int) bool {
	if m[2] < 0 {
		return true
	}
	next := text[m[2]:m[3]]
	postal := strings.HasPrefix(next, "code") && strings.HasSuffix(strings.TrimRight(text[:m[2]], " "), "pin")
	return !about().MatchString(next) && !postal
}

// asks reports whether a text asks for a secret in a place that pattern matches.
func asks(text string, pattern pattern) bool {
	text = words(text)
	for _, m := range pattern().FindAllStringSubmatchIndex(text, -1) {
		said, next := text[m[0]:m[1]], ""
		if m[2] >= 0 {
			said, next = text[m[0]:m[2]], text[m[2]:m[3]]
		}
		if means(text, m) && !otherwise().MatchString(said) && !stated().MatchString(next) && !not().MatchString(text[:m[0]]) {
			return true
		}
	}
	return false
}
