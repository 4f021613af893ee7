package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// sampledError returns where a model's result breaks its definition, or uses a tool although its request has none; nil for nowhere (LET01).
func sampledError(d *wire.Dialect, params, result json.RawMessage) error {
	result = bytes.TrimSpace(result)
	if _, err := roleOf("", result); err != nil {
		return err
	}
	if err := checkMembers("", result, []sampleMember{{name: "model", kind: "string"}}); err != nil {
		return err
	}
	lists := d.Declares.SamplingTools != "" // of blocks came with the tools
	tools := lists && len(listOf(memberOf(params, "tools"))) > 0
	switch stop := memberOf(result, "stopReason"); {
	case stop != nil && kindOf(stop) != "string":
		return errors.New("/stopReason: it must be of type string, or missing")
	case textOf(stop) == "toolUse" && !tools:
		return errors.New("/stopReason: it can not be toolUse, because the request has no tools")
	}
	content := memberOf(result, "content")
	if kindOf(content) == "array" && !lists {
		return errors.New("/content: it must be one block, because the revision has no lists of them")
	}
	blocks, err := blocksOf("/content", content)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if kind := textOf(memberOf(b, "type")); (kind == toolUse || kind == toolResult) && !tools {
			return fmt.Errorf("/content: it can not have a block of type %s, because the request has no tools", kind)
		}
	}
	return nil
}
