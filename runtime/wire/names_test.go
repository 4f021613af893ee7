package wire_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// ownNames are the literals of the runtime that are names of the protocol, each with the reason why it is not generated.
// A directory is the part of the runtime that may have it.
var ownNames = map[string]string{
	"server: initialize":                           "a server without a handshake has it in no revision, and tells a client of an older one so",
	`server: {"name":`:                             "how a server names itself is the same in every revision",
	`server: ,"version":`:                          "as name",
	`server: {"uri":`:                              "the specification says it in its text, no schema does",
	`server: {"elicitations":[`:                    "the one revision that has this error has one form of it",
	`server: ,"url":`:                              "as elicitations",
	`server: ,"message":`:                          "as elicitations",
	`server: {"mode":"url","elicitationId":`:       "as elicitations",
	"server: elicitationId":                        "as elicitations",
	"server: protocolVersion":                      "initialize has it in every revision, also in those that are not served",
	`server: {"supported":`:                        "a server of sessions alone has no revision whose errors list versions",
	`server: ,"requested":`:                        "as supported",
	"server: createMessage":                        "the record of a question says what it asks for, not what a revision calls it",
	"rpc: tools/call":                              "the parser tells a key that arguments repeat from one that a message does (VAL02)",
	`rpc: ,"message":`:                             "the member of every JSON-RPC error",
	`server: {"type":"text","text":`:               "a text is the same in every revision",
	"server: enumNames":                            "questions to older revisions are rewritten, as wire.View says (adapt.go)",
	"server: requestedSchema":                      "as enumNames",
	"server: inputSchema":                          "what is added while a server runs comes and is listed in the words of the protocol, the same in every revision",
	"server: outputSchema":                         "as inputSchema",
	"server: taskSupport":                          "as inputSchema",
	"server: mimeType":                             "as inputSchema",
	"server: uriTemplate":                          "as inputSchema",
	"server: lastModified":                         "as inputSchema",
	"server: _meta":                                "as inputSchema",
	"server: pollInterval":                         "it is refused in what is added, because it is a key of manifests (definition.go)",
	"server: readOnlyHint":                         "as inputSchema",
	"server: destructiveHint":                      "as inputSchema",
	"server: idempotentHint":                       "as inputSchema",
	"server: openWorldHint":                        "as inputSchema",
	"server: /url: %w":                             "as /messages",
	"server: /icons/%d/src: %w":                    "as inputSchema",
	"server: /mimeType: %w":                        "as inputSchema",
	"server: /icons/%d/mimeType: %w":               "as inputSchema",
	"server: /_meta: %w":                           "as inputSchema",
	"client: tool_use":                             "the blocks of sampling that belong together are the same in every revision that has them",
	"client: tool_result":                          "as tool_use",
	"task: input_required":                         "the statuses are the runtime's own, and generated tables refer to them",
	"server: /uri":                                 "JSON Pointers for errors: params have the member in every revision (refusal.go)",
	"server: /notifications/resourceSubscriptions": "as /uri",
	"server: /name":                                "as /uri",
	"server: /default":                             "a JSON Pointer into a form: the keyword is JSON Schema's",
	"server: /task":                                "as /uri",
	"server: /task/ttl":                            "as /uri",
	"server: /taskId":                              "as /uri",
	"server: /cursor":                              "as /uri",
	"server: /level":                               "as /uri",
	"server: /ref":                                 "as /uri",
	"server: /ref/name":                            "as /uri",
	"server: /ref/uri":                             "as /uri",
	"server: /argument/name":                       "as /uri",
	"server: /protocolVersion":                     "as /uri",
	"server: /requestState":                        "as /uri",
	"server: /action":                              "as /uri",
	"server: /inputResponses":                      "as /uri",
	"server: /messages/%d: %w":                     "sampling is checked for what no revision allows (contradiction.go)",
	"server: /messages/%d: the tool use %q is followed by no result":                      "as /messages",
	"server: /content: the tool use %s, and the request has no tools":                     "as /messages",
	"server: /stopReason: the model stopped for a tool use, and the request has no tools": "as /messages",
	"client: inputSchema":      "what items of lists and blocks of content must have is the same in every revision (list.go, content.go)",
	"client: uriTemplate":      "as inputSchema",
	"client: mimeType":         "as inputSchema",
	"server: /arguments":       "as /uri",
	"server: /requestedSchema": "as /messages",
	"client: /elicitationId: it must be a string, and not empty": "questions are held against what all revisions require (question.go, sampling.go, sampled.go)",
	"client: stopReason": "as /elicitationId",
	"client: /stopReason: it must be of type string, or missing":                        "as /elicitationId",
	"client: /stopReason: it can not be toolUse, %s":                                    "as /elicitationId",
	"client: /content: it must be one block, because the revision has no lists of them": "as /elicitationId",
	"client: /content": "as /elicitationId",
	"client: /content: it uses the tool %q, which the request does not have": "as /elicitationId",
	"client: /content: it can not have a block of type %s, %s":               "as /elicitationId",
	"client: maxTokens":        "as /elicitationId",
	"client: modelPreferences": "as /elicitationId",
	"client: stopSequences":    "as /elicitationId",
	"client: systemPrompt":     "as /elicitationId",
	"client: toolChoice":       "as /elicitationId",
	"client: toolUseId":        "as /elicitationId",
	"client: /maxTokens: it must be an integer, and not negative":         "as /elicitationId",
	"client: /requestedSchema%v":                                          "as /elicitationId",
	"client: includeContext":                                              "as /elicitationId",
	"client: costPriority":                                                "as /elicitationId",
	"client: intelligencePriority":                                        "as /elicitationId",
	"client: speedPriority":                                               "as /elicitationId",
	"client: /stopSequences/%d: it must be of type string, and is %s":     "as /elicitationId",
	"client: /includeContext: it must be none, thisServer or allServers":  "as /elicitationId",
	"client: /modelPreferences":                                           "as /elicitationId",
	"client: /modelPreferences/hints/%d":                                  "as /elicitationId",
	"client: /modelPreferences/%s: it must be from 0 to 1":                "as /elicitationId",
	"client: /tools/%d/inputSchema/type: it must be object":               "as /elicitationId",
	"client: /tools/%d":                                                   "as /elicitationId",
	"client: /toolChoice":                                                 "as /elicitationId",
	"client: /toolChoice/mode: it must be auto, none or required":         "as /elicitationId",
	"client: /messages/%d":                                                "as /elicitationId",
	"client: /messages/%d: it uses tools, and no message has the results": "as /elicitationId",
	"rpc: /params/arguments/":                                             "as tools/call",
}

// TestREV04NoProtocolNameInTheRuntime looks for names of methods and members in the runtime's literals: what a revision calls
// something is for the generated wire to say. A member counts where a literal writes it in JSON, or as the first step of a JSON Pointer, or when no other word looks like it.
// Package check is left out, since its names are the keywords of JSON Schema, and so are the packages for tests: they play the client, or
// are generated. Modules of their own are no part of what generated code links against.
func TestREV04NoProtocolNameInTheRuntime(t *testing.T) {
	names, used := protocolNames(t), map[string]bool{}
	skip := map[string]bool{"tasktest": true, "servertest": true, "wiretest": true, "dialects": true, "strangers": true}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if _, missing := os.Stat(filepath.Join(path, "go.mod")); err == nil && e.IsDir() && missing == nil {
			return filepath.SkipDir
		}
		dir := filepath.Base(filepath.Dir(path))
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || skip[dir] || strings.Contains(path, "check") {
			return err
		}
		for _, text := range literals(t, path) {
			if !names.in(text) {
				continue
			}
			own := dir + ": " + text
			used[own] = true
			if ownNames[own] == "" {
				t.Errorf("%s: %q is a name of the protocol: it belongs into the generated wire", path, text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for own := range ownNames {
		if !used[own] {
			t.Errorf("%q is an exception that nothing needs", own)
		}
	}
}

// protocol are the names of the schemas: methods and other constants, and members, without the keywords of JSON Schema.
type protocol map[string]bool

func protocolNames(t *testing.T) protocol {
	names := namesIn(t, "../../schema/20*/*.json")
	for keyword := range namesIn(t, "../../schema/dialect/*.json") {
		delete(names, keyword)
	}
	return names
}

func namesIn(t *testing.T, pattern string) protocol {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	names := protocol{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var schema any
		if err := json.Unmarshal(data, &schema); err != nil {
			t.Fatal(err)
		}
		names.collect(schema)
	}
	return names
}

func (p protocol) collect(schema any) {
	switch v := schema.(type) {
	case []any:
		for _, item := range v {
			p.collect(item)
		}
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok {
			for name := range properties {
				p[name] = true
			}
		}
		if name, ok := v["const"].(string); ok {
			p[name] = true
		}
		for _, item := range v {
			p.collect(item)
		}
	}
}

var (
	member  = regexp.MustCompile(`"([^"]+)":`)
	pointer = regexp.MustCompile(`^/(\w+)`) // JSON Pointers, as errors begin with them, too
)

func (p protocol) in(text string) bool {
	if p[text] {
		return text == "initialize" || strings.ContainsFunc(text, func(r rune) bool { return r < 'a' || r > 'z' }) && text != "2.0"
	}
	if m := pointer.FindStringSubmatch(text); m != nil && p[m[1]] {
		return true
	}
	for _, m := range member.FindAllStringSubmatch(text, -1) {
		if p[m[1]] && !jsonRPC[m[1]] {
			return true
		}
	}
	return false
}

// jsonRPC are the members of JSON-RPC, which package rpc writes.
var jsonRPC = map[string]bool{"jsonrpc": true, "id": true, "method": true, "params": true, "result": true, "error": true, "code": true, "data": true}

// literals are the strings of a file, without its imports and struct tags.
func literals(t *testing.T, path string) (all []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				text, _ := strconv.Unquote(n.Value)
				all = append(all, text)
			}
		}
		return true
	})
	return all
}
