package server

import (
	"encoding/base64"
	"strconv"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// toolPage is one page of tools/list, encoded when the server was made: tools do not change while it serves.
type toolPage struct {
	cursor string // that leads here, "" for the first
	result []byte
}

func toolPages(w *wire, tools []Tool, size int) []toolPage {
	var pages []toolPage
	for from := 0; from == 0 || from < len(tools); from += size {
		to := min(from+size, len(tools))
		list := ToolList{Tools: []byte{'['}}
		for i := range tools[from:to] {
			if i > 0 {
				list.Tools = append(list.Tools, ',')
			}
			list.Tools = append(list.Tools, tools[from+i].Definition...)
		}
		list.Tools = append(list.Tools, ']')
		if to < len(tools) {
			list.NextCursor = toolCursor(to)
		}
		page := toolPage{result: w.AppendToolList(nil, &list)}
		if from > 0 {
			page.cursor = toolCursor(from)
		}
		pages = append(pages, page)
	}
	return pages
}

// toolCursor is opaque to clients: base64 keeps them from counting on the number in it.
func toolCursor(at int) string {
	return base64.RawURLEncoding.EncodeToString(strconv.AppendInt([]byte("tools:"), int64(at), 10))
}

func (r *request) listTools(b []byte) ([]byte, error) {
	for i := range r.wire.pages {
		if r.wire.pages[i].cursor == r.params.Cursor {
			return append(b, r.wire.pages[i].result...), nil
		}
	}
	return nil, rpc.Errorf(rpc.CodeInvalidParams, "invalid cursor: not one that this server gave")
}
