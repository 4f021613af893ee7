package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/schema"
)

// The names in _meta go to clients as they are, so names that the specification forbids are refused here (LET04). In an answer, whose author is
// somebody else, they only get a warning.

var (
	metaLabel = lazyregexp.New(`^` + schema.MetaLabel + `$`)
	metaName  = lazyregexp.New(`^` + schema.MetaName + `$`)
)

// extensionPrefix is the prefix of names that official extensions define, which a tool may need.
const extensionPrefix = "io.modelcontextprotocol"

// progressToken is the one key without a prefix that the protocol itself writes.
const progressToken = "progressToken"

// protocolNames are the names with extensionPrefix that the protocol itself writes.
var protocolNames = []string{"protocolVersion", "clientInfo", "clientCapabilities", "serverInfo", "logLevel", "subscriptionId", "related-task", "model-immediate-response"}

// topDomains are the usual beginnings of prefixes.
var topDomains = []string{"com", "org", "net", "io", "dev", "ai", "app", "co", "edu", "gov", "info", "cloud", "tech"}

func (l *loader) meta(n *schema.Node) {
	if !l.is(n, schema.Object) {
		return
	}
	for _, m := range n.Members {
		l.metaKey(m)
	}
}

func (l *loader) metaKey(m schema.Member) {
	prefix, name, prefixed := strings.Cut(m.Key, "/")
	if !prefixed {
		prefix, name = "", m.Key
	}
	labels := strings.Split(prefix, ".")
	badLabel := slices.ContainsFunc(labels, func(label string) bool { return !metaLabel().MatchString(label) })
	last := len(labels) - 1
	switch {
	case prefixed && badLabel:
		l.forbiddenMeta(m, schema.Error, "labels begin with a letter and end with a letter or digit, with dots between them: com.example/name", "the prefix is malformed")
	case !metaName().MatchString(name):
		l.forbiddenMeta(m, schema.Error, "use letters, digits, -, _ and ., and begin and end with a letter or digit", "the name is malformed")
	case m.Key == progressToken:
		l.forbiddenMeta(m, schema.Error, "take another name, or a prefix of your own, such as com.example/", "the protocol has it in requests")
	case prefix == extensionPrefix && !slices.Contains(protocolNames, name):
		l.forbiddenMeta(m, schema.Warning, "write it only if an official extension defines it; others take a prefix of their own, such as com.example/", "the prefix is reserved for extensions of the protocol")
	case schema.ReservesMeta(labels):
		l.forbiddenMeta(m, schema.Error, "take a prefix of your own, such as com.example/", "the prefix is reserved for the protocol")
	case last > 0 && slices.Contains(topDomains, labels[last]) && !slices.Contains(topDomains, labels[0]):
		slices.Reverse(labels)
		l.forbiddenMeta(m, schema.Warning, "did you mean "+strings.Join(labels, ".")+"/"+name+"?", "prefixes are domain names in reverse")
	}
}

func (l *loader) forbiddenMeta(m schema.Member, severity schema.Severity, hint, why string) {
	if l.m.Answer {
		severity = schema.Warning
	}
	l.ds = append(l.ds, schema.Diagnostic{Pos: m.KeyPos, Pointer: m.Value.Pointer, Code: "meta-name", Severity: severity, Hint: hint,
		Message: fmt.Sprintf("%.140q is no name for _meta: %s", m.Key, why)})
}
