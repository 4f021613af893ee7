package importer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Source is a server's description of itself and of its tools.
type Source struct {
	File         string // or another name, for messages
	Revision     string // protocol revision of the description; "" if unknown or not supported
	Server       *schema.Node
	Capabilities *schema.Node
	Instructions string
	Tools        []*schema.Node // definitions, at least one, each with a name of its own
	LeftOut      []Loss         // what is no definition: found in the list, or named by whoever read the list

	items int // of the list
	pages int
	next  bool // the last page has a cursor for another one
}

// Read reads a saved answer to tools/list: the JSON-RPC response, its result, the list of tools alone, what mcpkiln tools --json prints, or
// several pages, as a list or one after the other. Responses to initialize among them describe the server. Errors have the line. Items of the list
// that are no definitions with a name are left out.
func Read(file string, data []byte) (*Source, error) {
	s := &Source{File: file}
	values, err := split(file, data)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if err := s.add(v); err != nil {
			return nil, err
		}
	}
	switch {
	case s.next:
		return nil, fmt.Errorf("%s: the list is not complete: its last page has a nextCursor; save the pages that follow, too, or name the server itself", file)
	case s.pages == 0:
		return nil, fmt.Errorf("%s: there is no answer to tools/list in it", file)
	case len(s.Tools) == 0 && s.items > 0:
		return nil, fmt.Errorf("%s: there is nothing to import: %s; is it a list of tools?", file, s.LeftOut[0])
	case len(s.Tools) == 0 && len(s.LeftOut) > 0:
		return nil, fmt.Errorf("%s: there is nothing to import: %s", file, s.LeftOut[0])
	case len(s.Tools) == 0:
		return nil, fmt.Errorf("%s: the list has no tools: there is nothing to import", file)
	}
	return s, s.names()
}

// split reads all JSON values of a file: a single one, or one page on each line.
func split(file string, data []byte) (all []*schema.Node, err error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	text := bytes.TrimSpace(data)
	switch {
	case len(text) == 0:
		return nil, fmt.Errorf("%s: it is empty", file)
	case text[0] == '<':
		return nil, fmt.Errorf("%s: this is a page of HTML or XML, not JSON: was it saved behind a login, or from another address?", file)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	lines, end := 0, 0 // read so far
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		begin := end
		if err != nil {
			raw = data[begin:] // the schema reader reports the position of the error
		} else {
			begin = int(dec.InputOffset()) - len(raw)
		}
		lines += bytes.Count(data[end:begin], []byte("\n"))
		n, ds := schema.ParseJSON(file, raw)
		moveDown(n, ds, lines)
		switch {
		case ds.Err() != nil || n == nil:
			err := rendered(ds, data)
			if !bytes.ContainsAny(text[:1], "{[") {
				err = fmt.Errorf("%s\n  this is no JSON: a source is a saved answer to tools/list, or a server", strings.TrimRight(err.Error(), "\n"))
			}
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all, end = append(all, n), int(dec.InputOffset())
		lines += bytes.Count(raw, []byte("\n"))
	}
}

// moveDown adds to the positions of a value, which was parsed separately, the lines before it in the file.
func moveDown(n *schema.Node, ds schema.Diagnostics, lines int) {
	for i := range ds {
		ds[i].Pos.Line += int32(lines)
	}
	if n == nil {
		return
	}
	n.Walk(func(n *schema.Node) bool {
		n.Pos.Line += int32(lines)
		for i := range n.Members {
			n.Members[i].KeyPos.Line += int32(lines)
		}
		return true
	})
}

// rendered returns the first error with its source line.
func rendered(ds schema.Diagnostics, data []byte) error {
	for _, d := range ds {
		if d.Severity == schema.Error {
			return errors.New(d.Render(data))
		}
	}
	return ds
}

// add reads one value: a page, a list of pages, or a description of the server.
func (s *Source) add(v *schema.Node) error {
	switch {
	case v.Kind == schema.Array && len(v.Items) > 0 && isPage(v.Items[0]):
		for _, item := range v.Items {
			if err := s.add(item); err != nil {
				return err
			}
		}
		return nil
	case v.Kind == schema.Array:
		return s.page(v, nil)
	case v.Kind != schema.Object:
		return wrong(v, "a %s is no answer to tools/list", v.Kind)
	case v.Get("error") != nil && v.Get("result") == nil:
		return wrong(v, "the server answered with an error: %s", v.Get("error").JSON())
	case v.Get("result") != nil:
		return s.add(v.Get("result"))
	case v.Get("method") != nil:
		return nil // another message of a recorded session
	}
	s.about(v)
	switch tools := v.Get("tools"); {
	case tools.Is(schema.Array):
		return s.page(tools, v.Get("nextCursor"))
	case tools.Is(schema.Object):
		return wrong(tools, "tools is no list: if this is a manifest, generate from it")
	case v.Get("serverInfo") == nil:
		return wrong(v, "this is no answer to tools/list: it has no tools")
	}
	return nil
}

// isPage reports whether an element of a list is an answer, not a tool.
func isPage(v *schema.Node) bool {
	return v.Kind == schema.Array || v.Get("jsonrpc") != nil || v.Get("result") != nil || v.Get("tools") != nil || v.Get("protocolVersion") != nil
}

// serverInfoKey is the key of the server's info in answers of revisions without a handshake.
const serverInfoKey = "io.modelcontextprotocol/serverInfo"

// about takes what v says of the server.
func (s *Source) about(v *schema.Node) {
	for _, info := range []*schema.Node{v.Get("serverInfo"), v.Get("_meta").Get(serverInfoKey)} {
		if info.Is(schema.Object) {
			s.Server = info
		}
	}
	if c := v.Get("capabilities"); c.Is(schema.Object) {
		s.Capabilities = c
	}
	if r := v.Get("protocolVersion"); r.Is(schema.String) && slices.Contains(revision.Names(), r.Text) {
		s.Revision = r.Text
	}
	if i := v.Get("instructions"); i.Is(schema.String) {
		s.Instructions = i.Text
	}
	if l := v.Get("leftOut"); l.Is(schema.Array) {
		for _, item := range l.Items {
			s.leaveOut(cmp.Or(textOf(item.Get("tool")), "a tool"), cmp.Or(textOf(item.Get("why")), "the source does not say why"))
		}
	}
}

func (s *Source) leaveOut(tool, why string) {
	s.LeftOut = append(s.LeftOut, Loss{tool, "", leftOut + why})
}

// page adds the tools of one page. cursor is that of the next page, nil for the last.
func (s *Source) page(tools, cursor *schema.Node) error {
	if s.pages > 0 && !s.next {
		return wrong(tools, "this is a second list: the one before it was complete")
	}
	s.pages++
	s.next = cursor != nil && cursor.Kind != schema.Null && (cursor.Kind != schema.String || cursor.Text != "")
	for _, t := range tools.Items {
		if why := nameless(t); why != "" {
			s.leaveOut(fmt.Sprintf("tools[%d]", s.items), why)
		} else {
			s.Tools = append(s.Tools, t)
		}
		s.items++
	}
	return nil
}

// nameless returns why an item of the list is no definition with a name, "" if it is one.
func nameless(t *schema.Node) string {
	switch n := t.Get("name"); {
	case t.Kind != schema.Object:
		return "it is no object: " + excerpt(t)
	case n == nil:
		return "its name is missing"
	case n.Kind != schema.String:
		return "its name is no string: " + excerpt(n)
	case n.Text == "":
		return "its name is empty"
	}
	return ""
}

// names returns an error unless the name of each tool is unique.
func (s *Source) names() error {
	first := map[string]*schema.Node{}
	for _, t := range s.Tools {
		n := t.Get("name")
		if other := first[n.Text]; other != nil {
			return wrong(n, "the tool %q stands in the list twice, first in line %d: a client could call only one of them", n.Text, other.Pos.Line)
		}
		first[n.Text] = n
	}
	return nil
}

func wrong(at *schema.Node, format string, args ...any) error {
	return fmt.Errorf("%s: %s", at.Pos, fmt.Sprintf(format, args...))
}
