package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// print prints the result of a tool after it has been validated by the tool's schema.
func (v *visit) print(one *tool, r *client.ToolResult) error {
	if err := v.checkResult(one, r); err != nil {
		return err
	}
	out := v.cmd.OutOrStdout()
	switch {
	case v.json:
		if err := printJSON(out, r.Raw); err != nil {
			return err
		}
	case r.IsError:
		out = v.cmd.ErrOrStderr()
		fmt.Fprintf(out, "mcpkiln: %s failed:\n", plain.Line(one.Name))
		fallthrough
	default:
		text, err := contentOf(r)
		if err != nil {
			return err
		}
		if r.IsError && text != "" {
			text = plain.Quote(text) + "\n"
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
		if text == "" {
			fmt.Fprintf(v.cmd.ErrOrStderr(), "mcpkiln: the result of %s has no content\n", plain.Line(one.Name))
		}
	}
	if r.IsError {
		return &statusError{exitTool, nil}
	}
	return nil
}

// checkResult validates a result by the tool's outputSchema, which errors of tools need not conform to.
func (v *visit) checkResult(t *tool, r *client.ToolResult) error {
	switch {
	case t.OutputSchema == nil || r.IsError || r.StructuredContent == nil && !v.session.HasOutputSchemas():
		return nil
	case r.StructuredContent == nil:
		return &statusError{exitProtocol, fmt.Errorf("%s has an outputSchema, but its result has no structuredContent", t.Name)}
	}
	ctx, stop := context.WithTimeout(v.ctx, v.checkTime())
	defer stop()
	all, err := v.check(ctx, t.OutputSchema, r.StructuredContent, "the result of "+t.Name+" is shown unchecked: its outputSchema")
	if err != nil {
		err = fmt.Errorf("the outputSchema of %s can not be read: %w", t.Name, err)
	} else {
		err = violated("the result of "+t.Name+" breaks its outputSchema", all)
	}
	if err != nil {
		return &statusError{exitProtocol, err}
	}
	return nil
}

// block is one block of a result's content.
type block struct {
	Type, Text, Data, MIMEType, URI, Name string
	Resource                              struct{ URI, Text, Blob, MIMEType string }
}

// contentOf returns what is printed of a result: its structured content alone, so that other programs can read it, or else its blocks. Of an error it is
// both, without a block that just repeats the structured content.
func contentOf(r *client.ToolResult) (string, error) {
	var blocks []block
	if r.Content != nil && json.Unmarshal(r.Content, &blocks) != nil {
		return "", &statusError{exitProtocol, fmt.Errorf("the content of the result can not be read: it is a list of blocks with a type each, and this is %s", excerpt(r.Content))}
	}
	var text bytes.Buffer
	if r.StructuredContent != nil {
		if err := json.Indent(&text, plain.JSON(r.StructuredContent), "", "  "); err != nil {
			return "", err
		}
		text.WriteByte('\n')
	}
	for _, b := range blocks {
		if r.StructuredContent == nil || r.IsError && (b.Type != "text" || !sameJSON(b.Text, r.StructuredContent)) {
			text.WriteString(strings.TrimSuffix(b.String(), "\n") + "\n")
		}
	}
	return text.String(), nil
}

// sameJSON reports whether a text is JSON of the same value as raw.
func sameJSON(text string, raw json.RawMessage) bool {
	var a, b any
	if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal(raw, &b) != nil {
		return false
	}
	x, _ := json.Marshal(a)
	y, err := json.Marshal(b)
	return err == nil && bytes.Equal(x, y)
}

// String returns the text of a block, or a description in brackets if it has none.
func (b *block) String() string {
	switch b.Type {
	case "text":
		return b.Text
	case "image", "audio":
		return fmt.Sprintf("[%s, %s, %d bytes]", b.Type, plain.Line(b.MIMEType), decodedLen(b.Data))
	case "resource_link":
		return fmt.Sprintf("[%s: %s]", plain.Line(b.Name), plain.Line(b.URI))
	case "resource":
		if b.Resource.Text != "" {
			return b.Resource.Text
		}
		return fmt.Sprintf("[%s, %s, %d bytes]", plain.Line(b.Resource.URI), plain.Line(b.Resource.MIMEType), decodedLen(b.Resource.Blob))
	}
	return fmt.Sprintf("[%s]", plain.Line(b.Type))
}

func decodedLen(data string) int {
	return base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(data, "=")))
}
