package manifest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// A form passes through the client and often through its model, so that the specification forbids to ask for secrets there, and wants
// no links that users may follow (LET04). Both are read from names and words, so they only warn.

// secretWords are what names of secrets end with or hold, in lower case and with blanks between words.
var secretWords = regexp.MustCompile(`\b(passwords?|passwd|pwd|passphrase|passcode|secrets?|credentials?|cvv|cvc|pin|otp|(api|access|private|secret|signing|encryption) ?keys?|(api|access|auth|bearer|refresh|session|security|personal access|id) ?token|(credit |debit )?card number)\b|\btokens?$`)

var wordEnd = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// words are those of a name: apiKey, API_KEY and api-key are api key.
func words(name string) string {
	name = wordEnd.ReplaceAllString(name, "$1$3 $2$4")
	return strings.ToLower(strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(name))
}

// secret warns of a field for free text that is named like a secret.
func (l *loader) secret(m schema.Member) {
	n := m.Value
	if n.Get("type").Is(schema.String) && n.Get("type").Text != "string" || n.Get("enum") != nil || n.Get("oneOf") != nil || n.Get("format") != nil {
		return
	}
	if secretWords.MatchString(words(m.Key)) || n.Get("title").Is(schema.String) && secretWords.MatchString(words(n.Get("title").Text)) {
		l.ds = append(l.ds, schema.Diagnostic{Pos: m.KeyPos, Pointer: n.Pointer, Code: "elicitation-secret", Severity: schema.Warning,
			Hint: "ask with a URL question (methods: [elicitation/create], mode url), where the client does not see the answer", Message: fmt.Sprintf("a form must not ask for secrets, and %.80q is named like one", m.Key)})
	}
}

var link = regexp.MustCompile(`(?i)\bhttps?://|\bwww\.[a-z0-9-]+\.`)

// links warns of URLs in texts that users read.
func (l *loader) links(texts ...*schema.Node) {
	for _, n := range texts {
		if n.Is(schema.String) && link.MatchString(n.Text) {
			l.ds.Warn(n, "elicitation-url", "name the page in words, or ask with a URL question (methods: [elicitation/create], mode url)", "a form should hold no URL: users may follow it")
		}
	}
}

// linksWithin is links for the titles and descriptions of a schema and of what is in it.
func (l *loader) linksWithin(n *schema.Node) {
	n.Walk(func(n *schema.Node) bool {
		l.links(n.Get("title"), n.Get("description"))
		return true
	})
}
