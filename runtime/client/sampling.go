package client

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// sampleMember is a member of an object in a request to sample, and the kind of its value.
type sampleMember struct {
	name, kind string
	optional   bool // it may be missing, or null, which many libraries write for that
}

// The types of blocks that belong together.
const (
	toolUse    = "tool_use"
	toolResult = "tool_result"
)

// What handlers rely on in a request to sample. All revisions agree in this, but that older ones have fewer members and blocks.
var (
	requestMembers = []sampleMember{
		{name: "includeContext", kind: "string", optional: true}, {name: "maxTokens", kind: "number"}, {name: "messages", kind: "array"}, {name: "metadata", kind: "object", optional: true},
		{name: "modelPreferences", kind: "object", optional: true}, {name: "stopSequences", kind: "array", optional: true},
		{name: "systemPrompt", kind: "string", optional: true}, {name: "temperature", kind: "number", optional: true},
		{name: "toolChoice", kind: "object", optional: true}, {name: "tools", kind: "array", optional: true},
	}
	choiceMembers     = []sampleMember{{name: "mode", kind: "string", optional: true}}
	hintMembers       = []sampleMember{{name: "name", kind: "string", optional: true}}
	preferenceMembers = []sampleMember{
		{name: "costPriority", kind: "number", optional: true}, {name: "hints", kind: "array", optional: true},
		{name: "intelligencePriority", kind: "number", optional: true}, {name: "speedPriority", kind: "number", optional: true},
	}
	toolMembers  = []sampleMember{{name: "inputSchema", kind: "object"}, {name: "name", kind: "string"}}
	mediaMembers = []sampleMember{{name: "data", kind: "string"}, {name: "mimeType", kind: "string"}}
	blockTypes   = map[string][]sampleMember{
		"audio":    mediaMembers,
		"image":    mediaMembers,
		"text":     {{name: "text", kind: "string"}},
		toolResult: {{name: "content", kind: "array"}, {name: "toolUseId", kind: "string"}},
		toolUse:    {{name: "id", kind: "string"}, {name: "input", kind: "object"}, {name: "name", kind: "string"}},
	}
)

// checkSample returns an error for params of a request to sample that break their definition: a person would be asked, or a model called, for nothing.
func checkSample(params json.RawMessage) error {
	if err := checkMembers("", params, requestMembers); err != nil {
		return err
	}
	if n, err := strconv.ParseFloat(string(memberOf(params, "maxTokens")), 64); err != nil || n < 0 || n != math.Trunc(n) {
		return fmt.Errorf("/maxTokens: it must be an integer, and not negative")
	}
	for i, text := range listOf(memberOf(params, "stopSequences")) {
		if kind := kindOf(text); kind != "string" {
			return fmt.Errorf("/stopSequences/%d: it must be of type string, and is %s", i, kind)
		}
	}
	if scope := memberOf(params, "includeContext"); kindOf(scope) == "string" && !slices.Contains(contexts, textOf(scope)) {
		return fmt.Errorf("/includeContext: it must be none, thisServer or allServers")
	}
	for _, check := range []func(json.RawMessage) error{checkPreferences, checkTools} {
		if err := check(params); err != nil {
			return err
		}
	}
	return checkMessages(listOf(memberOf(params, "messages")))
}

// contexts are the values of includeContext.
var contexts = []string{"none", "thisServer", "allServers"}

// checkPreferences returns an error for modelPreferences that break their definition.
func checkPreferences(params json.RawMessage) error {
	preferences := memberOf(params, "modelPreferences")
	if kindOf(preferences) != "object" {
		return nil
	}
	if err := checkMembers("/modelPreferences", preferences, preferenceMembers); err != nil {
		return err
	}
	for i, hint := range listOf(memberOf(preferences, "hints")) {
		if err := checkMembers(fmt.Sprintf("/modelPreferences/hints/%d", i), hint, hintMembers); err != nil {
			return err
		}
	}
	for _, m := range preferenceMembers {
		value := memberOf(preferences, m.name)
		if n, err := strconv.ParseFloat(string(value), 64); kindOf(value) == "number" && (err != nil || n < 0 || n > 1) {
			return fmt.Errorf("/modelPreferences/%s: it must be from 0 to 1", m.name)
		}
	}
	return nil
}

// checkTools returns an error for tools, or a choice of them, that break their definition.
func checkTools(params json.RawMessage) error {
	for i, tool := range listOf(memberOf(params, "tools")) {
		if err := checkMembers(fmt.Sprintf("/tools/%d", i), tool, toolMembers); err != nil {
			return err
		}
		if textOf(memberOf(memberOf(tool, "inputSchema"), "type")) != "object" {
			return fmt.Errorf("/tools/%d/inputSchema/type: it must be object", i)
		}
	}
	choice := memberOf(params, "toolChoice")
	if kindOf(choice) != "object" {
		return nil
	}
	if err := checkMembers("/toolChoice", choice, choiceMembers); err != nil {
		return err
	}
	if mode := textOf(memberOf(choice, "mode")); mode != "" && mode != "auto" && mode != "none" && mode != "required" {
		return fmt.Errorf("/toolChoice/mode: it must be auto, none or required")
	}
	return nil
}

// checkMessages returns an error for a message that breaks its definition, for a use of a tool that is not followed by its result, and for results without
// a use, or mixed with other content.
func checkMessages(messages []json.RawMessage) error {
	var open []string
	for i, m := range messages {
		at := fmt.Sprintf("/messages/%d", i)
		role, err := roleOf(at, m)
		if err != nil {
			return err
		}
		blocks, err := blocksOf(at+"/content", memberOf(m, "content"))
		if err != nil {
			return err
		}
		results := 0
		for _, b := range blocks {
			if textOf(memberOf(b, "type")) != toolResult {
				continue
			}
			results++
			used := slices.Index(open, textOf(memberOf(b, "toolUseId")))
			if used < 0 || role != "user" {
				return fmt.Errorf("%s/content: a result of a tool must be the user's, right after the message that uses the tool", at)
			}
			open = slices.Delete(open, used, used+1)
		}
		switch {
		case results > 0 && results < len(blocks):
			return fmt.Errorf("%s/content: it mixes results of tools with other content", at)
		case len(open) > 0:
			return fmt.Errorf("%s/content: it lacks results of tools that were used before", at)
		}
		for _, b := range blocks {
			if textOf(memberOf(b, "type")) == toolUse {
				open = append(open, textOf(memberOf(b, "id")))
			}
		}
		if len(open) > 0 && role != "assistant" {
			return fmt.Errorf("%s/content: only the assistant uses tools", at)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("/messages/%d: it uses tools, and no message has the results", len(messages)-1)
	}
	return nil
}

// roleOf returns the role of a message.
func roleOf(at string, message json.RawMessage) (string, error) {
	if err := checkMembers(at, message, []sampleMember{{name: "role", kind: "string"}}); err != nil {
		return "", err
	}
	role := textOf(memberOf(message, "role"))
	if role != "user" && role != "assistant" {
		return "", fmt.Errorf("%s/role: it must be user or assistant", at)
	}
	return role, nil
}

// blocksOf returns the blocks of a message: its content is a list, or one block.
func blocksOf(at string, content json.RawMessage) ([]json.RawMessage, error) {
	if kindOf(content) != "array" {
		return []json.RawMessage{content}, checkBlock(at, content)
	}
	blocks := listOf(content)
	for i, b := range blocks {
		if err := checkBlock(fmt.Sprintf("%s/%d", at, i), b); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

// checkBlock returns an error for a block that breaks its definition.
func checkBlock(at string, block json.RawMessage) error {
	if err := checkMembers(at, block, []sampleMember{{name: "type", kind: "string"}}); err != nil {
		return err
	}
	members, known := blockTypes[textOf(memberOf(block, "type"))]
	if !known {
		return fmt.Errorf("%s/type: it must be audio, image, text, tool_result or tool_use", at)
	}
	return checkMembers(at, block, members)
}

// checkMembers returns an error for a value that is no object, or lacks a member, or whose member is of another kind.
func checkMembers(at string, object json.RawMessage, members []sampleMember) error {
	if kind := kindOf(object); kind != "object" {
		return fmt.Errorf("%s: it must be an object, and is %s", at, kind)
	}
	for _, m := range members {
		kind := kindOf(memberOf(object, m.name))
		if kind != m.kind && !(m.optional && (kind == "missing" || kind == "null")) {
			return fmt.Errorf("%s/%s: it must be of type %s, and is %s", at, m.name, m.kind, kind)
		}
	}
	return nil
}

// kindOf returns the kind of a JSON value: its type, null or, for nil, missing.
func kindOf(value json.RawMessage) string {
	switch {
	case len(value) == 0:
		return "missing"
	case strings.IndexByte("tf", value[0]) >= 0:
		return "boolean"
	case value[0] == 'n':
		return "null"
	case value[0] == '"':
		return "string"
	case value[0] == '[':
		return "array"
	case value[0] == '{':
		return "object"
	}
	return "number"
}

// listOf returns the items of a JSON array; nil for any other value.
func listOf(array json.RawMessage) (items []json.RawMessage) {
	if kindOf(array) == "array" {
		_ = json.Unmarshal(array, &items)
	}
	return items
}

// textOf returns the text of a JSON string; "" for any other value.
func textOf(value json.RawMessage) (text string) {
	if kindOf(value) == "string" {
		_ = json.Unmarshal(value, &text)
	}
	return text
}
