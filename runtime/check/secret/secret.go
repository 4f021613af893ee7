// Package secret tells names of secrets from others. A form passes through the client, and often through its model, so the specification
// forbids to ask for secrets there (LET04). The generator and the runtime both look at the names and titles of fields, with the words that are
// here, and say the same of them.
//
// It is a guess. A secret is named by how its name ends, or by what stands before an addition that still means it: databasePassword and
// password_again, but not passwordPolicy. What is not text to be typed in, such as a number or a choice, is none.
package secret

import (
	"fmt"
	"regexp"
	"strings"
)

// Remedy is what to do instead.
const Remedy = "ask with a URL question (methods: [elicitation/create], mode url), where the client does not see the answer"

// Found says of a field that it is named like a secret.
func Found(field string) string {
	return fmt.Sprintf("a form must not ask for secrets, and %.80q is named like one", field)
}

// phrases are the words of secrets, in lower case, with blanks between them or none.
var phrases = regexp.MustCompile(`\b(?:` + strings.Join([]string{
	`pass ?words?`, `pass ?phrases?`, `pass ?codes?`, `pass ?keys?`, `passwd`, `pwd`, `secrets?`, `credentials?`,
	`(?:api|access|private|secret|signing|encryption|decryption|ssh|gpg|pgp|recovery|account|license) ?keys?`,
	`(?:api|access|auth|bearer|refresh|session|security|personal access|id) ?tokens?`, `token`,
	`(?:seed|recovery|backup|mnemonic) ?(?:phrase|words|codes?)`, `mnemonic`,
	`(?:credit|debit|payment|bank) ?card(?: ?(?:number|no))?`, `card ?(?:number|no)`, `cvv`, `cvc`, `cvn`, `csc`,
	`(?:security|otp|totp|2 ?fa|mfa|one ?time|authenticator) ?(?:codes?|pass ?(?:words?|codes?)|pin)`, `t?otp`,
	`pin(?: ?(?:codes?|number|no))?`, `ssn`, `social ?security ?(?:number|no)`,
}, "|") + `)\b(?: ([a-z]+))?`)

// about are words that make something else of the phrase before them: what is said of a secret, not the secret.
var about = regexp.MustCompile(`^(?:policy|policies|manager|managers|length|strength|rules?|hint|name|names|id|ids|type|types|kind|count|limit|limits|usage|budget|` +
	`expiry|expires|expiration|age|rotation|format|url|uri|link|page|store|vault|provider|issuer|brand|holder|owner|scope|scopes|location|position|color|colour|icon|` +
	`board|map|reset|required|enabled|per)$`)

var (
	wordEnd = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)
	number  = regexp.MustCompile(`([A-Za-z])([0-9])|([0-9])([A-Za-z])`)
	other   = regexp.MustCompile(`[^a-z0-9]+`)
)

// words are those of a name or text: apiKey, API_KEY and api-key are api key.
func words(name string) string {
	name = wordEnd.ReplaceAllString(name, "$1$3 $2$4")
	name = number.ReplaceAllString(name, "$1$3 $2$4")
	return other.ReplaceAllString(strings.ToLower(name), " ")
}

// Named reports whether a name, or a title, is that of a secret.
func Named(name string) bool {
	text := words(name)
	for {
		m := phrases.FindStringSubmatchIndex(text)
		if m == nil {
			return false
		}
		if m[2] < 0 || !about.MatchString(text[m[2]:m[3]]) {
			return true
		}
		text = text[m[2]:]
	}
}
