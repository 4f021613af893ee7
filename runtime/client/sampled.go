package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// sampledError returns where a model's result breaks its definition, or uses a tool that its request does not offer; nil for nowhere (LET01).
func sampledError(d *wire.Dialect, params, result json.RawMessage) error {
	result = bytes.TrimSpace(result)
	if _, err := roleOf("", result); err != nil {
		return err
	}
	if err := checkMembers("", result, []sampleMember{{name: "model", kind: "string"}}); err != nil {
		return err
	}
	lists := d.Declares.SamplingTools != "" // of blocks came with the tools
	var tools []string
	for _, tool := range listOf(memberOf(params, "tools")) {
		tools = append(tools, textOf(memberOf(tool, "name")))
	}
	noTools := ""
	switch {
	case !lists || len(tools) == 0:
		noTools = "because the request has no tools"
	case textOf(memberOf(memberOf(params, "toolChoice"), "mode")) == "none":
		noTools = "because the request's toolChoice is none"
	}
	switch stop := memberOf(result, "stopReason"); {
	case stop != nil && kindOf(stop) != "string":
		return errors.New("/stopReason: it must be of type string, or missing")
	case textOf(stop) == "toolUse" && noTools != "":
		return fmt.Errorf("/stopReason: it can not be toolUse, %s", noTools)
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
		kind := textOf(memberOf(b, "type"))
		if (kind == toolUse || kind == toolResult) && noTools != "" {
			return fmt.Errorf("/content: it can not have a block of type %s, %s", kind, noTools)
		}
		if name := textOf(memberOf(b, "name")); kind == toolUse && !slices.Contains(tools, name) {
			return fmt.Errorf("/content: it uses the tool %q, which the request does not have", name)
		}
	}
	return nil
}
