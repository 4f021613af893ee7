package client

import (
	"encoding/json"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
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
