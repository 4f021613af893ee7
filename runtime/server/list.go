package server

import (
	"encoding/base64"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// toolPage is one page of tools/list, encoded when the server was made and when a tool is switched on or off.
type toolPage struct {
	cursor string // that leads here, "" for the first
	result []byte
}

// listPages encodes the pages of every wire anew.
func (s *Server) listPages() {
	var buf []byte
	for _, w := range s.wires {
		var pages []toolPage
		pages, buf = s.toolPages(w, buf)
		w.pages.Store(&pages)
	}
}

// toolPages makes the pages of a wire. They begin and end at the same tools whichever of them are on, so that a cursor stays good when
// one is switched (LET06): a page has less tools then. What they hold is put together in buf, which is returned for the next wire.
func (s *Server) toolPages(w *wire, buf []byte) ([]toolPage, []byte) {
	var pages []toolPage
	tools, cursor := s.def.Tools, ""
	for from := 0; from == 0 || from < len(tools); from += s.cfg.pageSize {
		to := min(from+s.cfg.pageSize, len(tools))
		list := ToolList{Tools: append(buf[:0], '['), CacheTTL: MillisOf(s.cfg.cacheTTL), CacheScope: s.cfg.cacheScope, ServerInfo: s.info}
		for i := range tools[from:to] {
			if !s.ToolEnabled(tools[from+i].Name) {
				continue
			}
			if len(list.Tools) > 1 {
				list.Tools = append(list.Tools, ',')
			}
			list.Tools = appendTool(list.Tools, w, &tools[from+i])
		}
		list.Tools = append(list.Tools, ']')
		if to < len(tools) {
			list.NextCursor = toolCursor(tools[to-1].Name)
		}
		buf = list.Tools
		const rest = 512 // what most pages have beside their tools
		pages = append(pages, toolPage{cursor, w.AppendToolList(make([]byte, 0, len(buf)+len(s.info)+rest), &list)})
		cursor = list.NextCursor
	}
	return pages, buf
}

// appendTool appends a tool as w advertises it.
func appendTool(b []byte, w *wire, t *Tool) []byte {
	if w.ToolExecution == "" || t.Execution == "" {
		return append(b, t.Definition...)
	}
	b = AppendMembers(append(b, '{'), []byte(t.Definition))
	b = append(check.Member(b, string(check.AppendString(nil, w.ToolExecution))+":"), t.Execution...)
	return append(b, '}')
}

// toolCursor names the tool that the page follows. It is opaque to clients: base64 keeps them from counting on what is in it.
func toolCursor(last string) string {
	return base64.RawURLEncoding.EncodeToString([]byte("tools:" + last))
}

func (r *request) listTools(b []byte) ([]byte, error) {
	for _, page := range *r.wire.pages.Load() {
		if page.cursor == r.params.Cursor {
			return append(b, page.result...), nil
		}
	}
	return nil, rpc.Errorf(rpc.CodeInvalidParams, "invalid cursor: not one that this server gave")
}
