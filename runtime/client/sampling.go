package client

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// checkMessages returns an error if a use of a tool is not followed by its result, or results are mixed with other content.
func checkMessages(params json.RawMessage) error {
	var request struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(params, &request); err != nil {
		return rpc.Errorf(rpc.CodeInvalidParams, "%v", err)
	}
	open := map[string]bool{}
	for i, m := range request.Messages {
		blocks, err := blocksOf(m.Content)
		if err != nil {
			return rpc.Errorf(rpc.CodeInvalidParams, "message %d: %v", i, err)
		}
		results := 0
		for _, b := range blocks {
			if b.Type == toolResult {
				results++
				delete(open, b.ToolUseID)
			}
		}
		switch {
		case results > 0 && results < len(blocks):
			return rpc.Errorf(rpc.CodeInvalidParams, "message %d mixes results of tools with other content", i)
		case len(open) > 0:
			return rpc.Errorf(rpc.CodeInvalidParams, "message %d lacks results of tools that were used before", i)
		}
		for _, b := range blocks {
			if b.Type == toolUse {
				open[b.ID] = true
			}
		}
	}
	if len(open) > 0 {
		return rpc.Errorf(rpc.CodeInvalidParams, "the last message uses tools, and has no results of them")
	}
	return nil
}

// The types of blocks that belong together.
const (
	toolUse    = "tool_use"
	toolResult = "tool_result"
)

type block struct {
	Type, ID  string
	ToolUseID string `json:"toolUseId"`
}

// blocksOf returns the blocks of a message: its content is a list, or one block.
func blocksOf(content json.RawMessage) (all []block, err error) {
	if len(content) > 0 && content[0] == '[' {
		err = json.Unmarshal(content, &all)
		return all, err
	}
	var one block
	err = json.Unmarshal(content, &one)
	return []block{one}, err
}

// sampledError returns where a model's result breaks the schema of its revision, or uses a tool that its request does not have, nil for nowhere (LET01). Of the
// blocks, what is checked is the same in all revisions.
func sampledError(d *wire.Dialect, params, result json.RawMessage) error {
	noTools := errors.New("the request has no tools, so the model is to get none")
	var asked struct{ Tools []json.RawMessage }
	if _ = json.Unmarshal(params, &asked); len(asked.Tools) > 0 && d.Declares.SamplingTools != "" {
		noTools = nil
	}
	role, stop, content := memberOf(result, "role"), memberOf(result, "stopReason"), memberOf(result, "content")
	switch {
	case textOf(role) != "assistant" && textOf(role) != "user":
		return errors.New(`role must be "assistant" or "user"`)
	case !begins(memberOf(result, "model"), '"'):
		return errors.New("model must be a string, the name of the model")
	case stop != nil && !begins(stop, '"'):
		return errors.New("stopReason must be a string, or not be there")
	case textOf(stop) == "toolUse" && noTools != nil:
		return fmt.Errorf("stopReason can not be toolUse: %w", noTools)
	case !begins(content, '['):
		return sampledBlockError("content", content, noTools)
	case d.Declares.SamplingTools == "":
		return errors.New("content must be one block: the revision has no lists of them here")
	}
	var all []json.RawMessage
	if err := json.Unmarshal(content, &all); err != nil {
		return err
	}
	for i, one := range all {
		if err := sampledBlockError(fmt.Sprintf("content[%d]", i), one, noTools); err != nil {
			return err
		}
	}
	return nil
}

// sampledBlockError is sampledError for a block at that place. noTools is why it can not be one of a tool; nil: it can.
func sampledBlockError(at string, raw json.RawMessage, noTools error) error {
	if !begins(raw, '{') {
		return fmt.Errorf("%s must be an object with a type, such as text", at)
	}
	kind := textOf(memberOf(raw, "type"))
	switch {
	case kind == "text" || kind == "image" || kind == "audio":
		d := check.GetScanned(raw, check.Limits{})
		defer d.Put()
		if b := readBlock(d); b.err() != nil {
			return fmt.Errorf("%s%w", at, b.err())
		}
		return nil
	case kind != toolUse && kind != toolResult:
		return fmt.Errorf("%s.type must be text, image, audio, %s or %s", at, toolUse, toolResult)
	case noTools != nil:
		return fmt.Errorf("%s can not be a %s: %w", at, kind, noTools)
	case kind == toolResult && !(begins(memberOf(raw, "toolUseId"), '"') && begins(memberOf(raw, "content"), '[')):
		return fmt.Errorf("%s must have a toolUseId, a string, and a content, a list", at)
	case kind == toolUse && !(begins(memberOf(raw, "id"), '"') && begins(memberOf(raw, "name"), '"') && begins(memberOf(raw, "input"), '{')):
		return fmt.Errorf("%s must have an id and a name, which are strings, and an input, an object", at)
	}
	return nil
}

// begins reports whether a JSON value begins with that character, which says of which kind it is. nil, which is no value, does not.
func begins(value json.RawMessage, with byte) bool { return len(value) > 0 && value[0] == with }

// textOf returns a JSON string; "" for anything else.
func textOf(value json.RawMessage) (text string) {
	_ = json.Unmarshal(value, &text)
	return text
}
