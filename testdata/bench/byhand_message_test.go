package bench

import (
	"strconv"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"

	"github.com/mcpkiln/mcpkiln/testdata/bench/kiln"
)

// The members of each object, in the order in which they are usually written.
var (
	callNames            = []string{`"jsonrpc":`, `"id":`, `"method":`, `"params":`}
	callParamsNames      = []string{`"name":`, `"arguments":`}
	cancelledNames       = []string{`"jsonrpc":`, `"method":`, `"params":`}
	cancelledParamsNames = []string{`"requestId":`, `"reason":`}
	answerNames          = []string{`"jsonrpc":`, `"id":`, `"result":`}
	resultNames          = []string{`"content":`, `"structuredContent":`, `"isError":`, `"_meta":`}
	receiptNames         = []string{`"accepted":`}
	blockNames           = []string{`"type":`, `"text":`, `"uri":`, `"name":`, `"description":`, `"mimeType":`}
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
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(callNames, f+1)
		switch f {
		case 0:
			h.require(string(h.text()) == "2.0")
			seen |= 1
		case 1:
			c.ID = h.id()
			seen |= 2
		case 2:
			h.require(string(h.text()) == "tools/call")
			seen |= 4
		case 3:
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
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(callParamsNames, f+1)
		switch f {
		case 0:
			c.Name = string(h.text())
			named = true
		case 1:
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
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(cancelledNames, f+1)
		switch f {
		case 0:
			h.require(string(h.text()) == "2.0")
			seen |= 1
		case 1:
			h.require(string(h.text()) == "notifications/cancelled")
			seen |= 2
		case 2:
			h.cancelledParams(&c)
		default:
			h.skip()
		}
	}
	h.require(seen == 3)
	return c, h.end()
}

func (h *hand) cancelledParams(c *cancelled) {
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(cancelledParamsNames, f+1)
		switch f {
		case 0:
			c.RequestID = h.id()
		case 1:
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
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(answerNames, f+1)
		switch f {
		case 0:
			h.require(string(h.text()) == "2.0")
			seen |= 1
		case 1:
			a.ID = h.id()
			seen |= 2
		case 2:
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
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(resultNames, f+1)
		switch f {
		case 0:
			a.Content = h.content()
			found = true
		case 1:
			a.Output = h.receipt()
		case 2:
			a.IsError = h.boolean()
		case 3:
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
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(receiptNames, f+1)
		switch f {
		case 0:
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
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		f = h.field(blockNames, f+1)
		switch f {
		case 0:
			kind = h.blockKind()
		case 1:
			text = string(h.text())
			seen |= 1
		case 2:
			uri = string(h.text())
			seen |= 2
		case 3:
			name = string(h.text())
			seen |= 4
		case 4:
			description = check.Some(string(h.text()))
		case 5:
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
