package servertest

import (
	"encoding/json"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Listed is a prompt, a resource or a resource template as clients see it.
type Listed struct {
	Name        string
	URI         string // of a resource
	URITemplate string // of a resource template
	// Definition is its whole entry in the list.
	Definition json.RawMessage
}

// Prompts lists the prompts, all pages of them.
func (c *Client) Prompts() ([]Listed, error) { return c.list(wire.OpListPrompts) }

// Resources lists the resources, all pages of them.
func (c *Client) Resources() ([]Listed, error) { return c.list(wire.OpListResources) }

// ResourceTemplates lists the templates, all pages of them.
func (c *Client) ResourceTemplates() ([]Listed, error) { return c.list(wire.OpListTemplates) }

func (c *Client) list(op wire.Op) (all []Listed, err error) {
	c.t.Helper()
	for params := (object)(nil); ; {
		raw, err := c.request(c.method(op), params)
		if err != nil {
			return all, err
		}
		page, err := decode[struct {
			Prompts           []json.RawMessage `json:"prompts"`
			Resources         []json.RawMessage `json:"resources"`
			ResourceTemplates []json.RawMessage `json:"resourceTemplates"`
			NextCursor        string            `json:"nextCursor"`
		}](raw)
		if err != nil {
			return all, err
		}
		for _, item := range append(append(page.Prompts, page.Resources...), page.ResourceTemplates...) {
			all = append(all, Listed{textMember(item, "name"), textMember(item, "uri"), textMember(item, "uriTemplate"), item})
		}
		if page.NextCursor == "" {
			return all, nil
		}
		params = object{"cursor": page.NextCursor}
	}
}

// Prompt is a prompt with its arguments filled in.
type Prompt struct {
	Description string          `json:"description"`
	Messages    []PromptMessage `json:"messages"`
}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role    string `json:"role"`
	Content Block  `json:"content"`
}

// Prompt gets a prompt, with its arguments filled in. args is a value of its generated type, a map of strings, or nil for none.
func (c *Client) Prompt(name string, args any, opts ...CallOption) (*Prompt, error) {
	c.t.Helper()
	params := object{"name": name}
	if args != nil {
		params["arguments"] = args
	}
	return Request[Prompt](c, c.method(wire.OpGetPrompt), params, opts...)
}

// Contents is one part of a resource.
type Contents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text"`
	Blob     []byte `json:"blob"`
}

// Read reads a resource.
func (c *Client) Read(uri string, opts ...CallOption) ([]Contents, error) {
	c.t.Helper()
	result, err := Request[struct {
		Contents []Contents `json:"contents"`
	}](c, c.method(wire.OpReadResource), object{"uri": uri}, opts...)
	if err != nil {
		return nil, err
	}
	return result.Contents, nil
}

// Completion are suggestions of the server.
type Completion struct {
	Values  []string `json:"values"`
	Total   int      `json:"total"`
	HasMore bool     `json:"hasMore"`
}

// CompletePrompt returns suggestions for an argument of a prompt, as typed so far. others are the arguments that have a value already.
func (c *Client) CompletePrompt(prompt, argument, typed string, others map[string]string) (*Completion, error) {
	c.t.Helper()
	return c.complete(object{"type": "ref/prompt", "name": prompt}, argument, typed, others)
}

// CompleteResource returns suggestions for a variable of a resource template, as typed so far. others are the variables that have a value already.
func (c *Client) CompleteResource(template, variable, typed string, others map[string]string) (*Completion, error) {
	c.t.Helper()
	return c.complete(object{"type": "ref/resource", "uri": template}, variable, typed, others)
}

func (c *Client) complete(ref object, argument, typed string, others map[string]string) (*Completion, error) {
	c.t.Helper()
	params := object{"ref": ref, "argument": object{"name": argument, "value": typed}}
	if others != nil {
		params["context"] = object{"arguments": others}
	}
	result, err := Request[struct {
		Completion Completion `json:"completion"`
	}](c, c.method(wire.OpComplete), params)
	if err != nil {
		return nil, err
	}
	return &result.Completion, nil
}
