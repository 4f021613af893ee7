package bench

import (
	"strconv"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"

	"github.com/mcpkiln/mcpkiln/testdata/bench/kiln"
)

// called is what a server needs of a tools/call. Arguments alias the message.
type called struct {
	ID        rpc.ID
	Name      string
	Arguments []byte
}

func callByHand(data []byte) (called, error) {
	var c called
	h, seen := hand{data: data}, 0
	for more := h.open('{', '}'); more; more = h.more('}') {
		switch string(h.key()) {
		case "jsonrpc":
			h.require(string(h.text()) == "2.0")
			seen |= 1
		case "id":
			c.ID = h.id()
			seen |= 2
		case "method":
			h.require(string(h.text()) == "tools/call")
			seen |= 4
		case "params":
			h.callParams(&c)
			seen |= 8
		default:
			h.skip()
		}
	}
	h.require(seen == 15)
	return c, h.end()
}

func (h *hand) callParams(c *called) {
	named := false
	for more := h.open('{', '}'); more; more = h.more('}') {
		switch string(h.key()) {
		case "name":
			c.Name = string(h.text())
			named = true
		case "arguments":
			h.require(h.peek() == '{')
			c.Arguments = h.skip()
		default:
			h.skip()
		}
	}
	h.require(named)
}

func (h *hand) id() rpc.ID {
	if h.peek() == '"' {
		return rpc.StringID(string(h.text()))
	}
	n, err := strconv.ParseInt(string(h.digits()), 10, 64)
	h.require(err == nil)
	return rpc.IntID(n)
}

// cancelled is what a server needs of notifications/cancelled.
type cancelled struct {
	RequestID rpc.ID
	Reason    string
}

func cancelledByHand(data []byte) (cancelled, error) {
	var c cancelled
	h, seen := hand{data: data}, 0
	for more := h.open('{', '}'); more; more = h.more('}') {
		switch string(h.key()) {
		case "jsonrpc":
			h.require(string(h.text()) == "2.0")
			seen |= 1
		case "method":
			h.require(string(h.text()) == "notifications/cancelled")
			seen |= 2
		case "params":
			h.cancelledParams(&c)
		default:
			h.skip()
		}
	}
	h.require(seen == 3)
	return c, h.end()
}

func (h *hand) cancelledParams(c *cancelled) {
	for more := h.open('{', '}'); more; more = h.more('}') {
		switch string(h.key()) {
		case "requestId":
			c.RequestID = h.id()
		case "reason":
			c.Reason = string(h.text())
		default:
			h.skip()
		}
	}
}

// answerByHand reads what kiln.ReadAnswer reads.
func answerByHand(data []byte) (*kiln.Answer, error) {
	a := new(kiln.Answer)
	h, seen := hand{data: data}, 0
	for more := h.open('{', '}'); more; more = h.more('}') {
		switch string(h.key()) {
		case "jsonrpc":
			h.require(string(h.text()) == "2.0")
			seen |= 1
		case "id":
			a.ID = h.id()
			seen |= 2
		case "result":
			h.result(a)
			seen |= 4
		default:
			h.skip()
		}
	}
	h.require(seen == 7)
	return a, h.end()
}

func (h *hand) result(a *kiln.Answer) {
	found := false
	for more := h.open('{', '}'); more; more = h.more('}') {
		switch string(h.key()) {
		case "content":
			a.Content = h.content()
			found = true
		case "structuredContent":
			a.Output = h.receipt()
		case "isError":
			a.IsError = h.boolean()
		case "_meta":
			h.require(h.peek() == '{')
			a.Meta = h.skip()
		default:
			h.skip()
		}
	}
	h.require(found)
}

func (h *hand) receipt() *kiln.PlaceOrderOutput {
	r := new(kiln.PlaceOrderOutput)
	found := false
	for more := h.open('{', '}'); more; more = h.more('}') {
		switch string(h.key()) {
		case "accepted":
			r.Accepted = h.boolean()
			found = true
		default:
			h.skip()
		}
	}
	h.require(found)
	return r
}

func (h *hand) content() []kiln.ContentBlock {
	blocks := make([]kiln.ContentBlock, 0, 2)
	for more := h.open('[', ']'); more; more = h.more(']') {
		blocks = append(blocks, h.block())
	}
	return blocks
}

// block reads the two kinds of content that the row has. Their rarer members are skipped.
func (h *hand) block() kiln.ContentBlock {
	var text, uri, name string
	var description, mime check.Optional[string]
	kind, seen := byte(0), 0
	for more := h.open('{', '}'); more; more = h.more('}') {
		switch string(h.key()) {
		case "type":
			kind = h.blockKind()
		case "text":
			text = string(h.text())
			seen |= 1
		case "uri":
			uri = string(h.text())
			seen |= 2
		case "name":
			name = string(h.text())
			seen |= 4
		case "description":
			description = check.Some(string(h.text()))
		case "mimeType":
			mime = check.Some(string(h.text()))
		default:
			h.skip()
		}
	}
	switch {
	case kind == 't' && seen == 1:
		return &kiln.TextContent{Text: text}
	case kind == 'l' && seen == 6:
		return &kiln.ResourceLink{URI: uri, Name: name, Description: description, MIMEType: mime}
	}
	h.fail()
	return nil
}

func (h *hand) blockKind() byte {
	switch string(h.text()) {
	case "text":
		return 't'
	case "resource_link":
		return 'l'
	}
	return 0
}
