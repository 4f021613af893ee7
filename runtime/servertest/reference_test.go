package servertest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
)

// What completion/complete refers to is what its type says, whatever other members there are and in whatever order.
// https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion#reference-types
func TestLET05AReferenceIsWhatItsTypeSays(t *testing.T) {
	inLibrary(t, func(t *testing.T, c *servertest.Client) {
		for ref, at := range map[string]string{
			`{"type":"ref/x","name":"review_code"}`:                          "/ref/type: ",
			`{"name":"review_code"}`:                                         "/ref/type: ",
			`{"uri":"files://{user}/{+path}"}`:                               "/ref/type: ",
			`{"type":5,"name":"review_code"}`:                                "/ref/type: ",
			`{"type":null,"name":"review_code"}`:                             "/ref/type: ",
			`{"type":"ref/resource","name":"review_code"}`:                   "/ref/uri: ",
			`{"type":"ref/prompt","uri":"files://{user}/{+path}"}`:           "/ref/name: ",
			`{"name":5,"type":"ref/prompt"}`:                                 "/ref/name: ",
			`{"type":"ref/prompt","name":""}`:                                "/ref: ",
			`{"type":"ref/resource","uri":""}`:                               "/ref: ",
			`{"uri":"no://such","name":"review_code","type":"ref/resource"}`: "/ref/uri: ",
			`"review_code"`: "/ref: ",
		} {
			_, err := complete(c, ref, "language")
			refused(t, err, rpc.CodeInvalidParams, at)
		}
		for ref, argument := range map[string]string{
			`{"type":"ref/prompt","name":"review_code","title":"Review","uri":5}`:             "language",
			`{"name":"review_code","type":"ref/prompt","uri":"files://{user}/{+path}"}`:       "language",
			`{"name":"review_code","uri":"files://{user}/{+path}","type":"ref\/resource"}`:    "user",
			`{"name":{"a":[1]},"uri":"files://{user}/{+path}","type":"ref/resource","x":"y"}`: "user",
		} {
			if got, err := complete(c, ref, argument); err != nil || !strings.Contains(string(*got), `"values":["`) {
				t.Errorf("%s: %v", ref, err)
			}
		}
	})
}

// The arguments that have a value already are strings, whether or not somebody asks for them. Their names may be any.
// https://modelcontextprotocol.io/specification/2025-11-25/schema#completerequestparams
func TestLET05TheOtherArgumentsAreStrings(t *testing.T) {
	inLibrary(t, func(t *testing.T, c *servertest.Client) {
		if c.Revision() < "2025-06-18" {
			return // which have no such member: what is there is not read
		}
		for _, argument := range []string{"path", "language", "since"} { // has a function, has values, has nothing
			for arguments, at := range map[string]string{
				`{"language":5}`: "/context/arguments/language: type: ", `{"nobody":{}}`: "/context/arguments/nobody: type: ", `{"language":null}`: "/context/arguments/language: type: ",
				`["go"]`: "/context/arguments: type: ", `"go"`: "/context/arguments: type: ", `{}`: "", `{"nobody":"x","language":"go"}`: "", `null`: "",
			} {
				_, err := servertest.Request[json.RawMessage](c, "completion/complete", map[string]any{
					"ref": json.RawMessage(`{"type":"ref/prompt","name":"review_code"}`), "argument": map[string]string{"name": argument, "value": ""},
					"context": map[string]any{"arguments": json.RawMessage(arguments)}})
				if at != "" {
					refused(t, err, rpc.CodeInvalidParams, at)
				} else if err != nil {
					t.Errorf("%s with %s: %v", argument, arguments, err)
				}
			}
		}
	})
}

func complete(c *servertest.Client, ref, argument string) (*json.RawMessage, error) {
	return servertest.Request[json.RawMessage](c, "completion/complete", map[string]any{
		"ref": json.RawMessage(ref), "argument": map[string]string{"name": argument, "value": ""}})
}
