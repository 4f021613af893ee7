package streamhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// reports are texts that tools answer, by how many bytes they have.
var reports = map[string]string{"100": prose(100), "20000": prose(20_000), "1000000": prose(1_000_000)}

func prose(n int) string {
	const line = "orders of the quarter grew by 12.5 percent, \"pending\" in all regions\n"
	return strings.Repeat(line, n/len(line)+1)[:n]
}

// report answers the text that has so many bytes.
func report(_ context.Context, _ *server.Call, in *input) (*output, error) {
	return &output{text: reports[in.text]}, nil
}

// BenchmarkResult is a call of a tool whose structured output has so many bytes. The floor is net/http with a result that was prepared: it
// finds the id in a fixed place.
func BenchmarkResult(b *testing.B) {
	for _, size := range []string{"100", "20000", "1000000"} {
		for _, end := range []struct {
			name    string
			measure func(b *testing.B, size string)
		}{{"floor", resultFloor}, {"2025-11-25", resultOfSession}, {"2026-07-28", resultOfExchange}} {
			b.Run("bytes="+size+"/"+end.name, func(b *testing.B) { end.measure(b, size) })
		}
	}
}

func resultOfSession(b *testing.B, size string) {
	url := benchServer(b)
	benchmark(b, 1, url, benchSession(b, url), func(i int) string { return callBody(fmt.Sprint(i), "report", size) })
}

func resultOfExchange(b *testing.B, size string) {
	headers := jsonHeaders("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "report")
	benchmark(b, 1, benchServer(b), headers, func(i int) string { return callBody2026(fmt.Sprint(i), "report", size) })
}

func resultFloor(b *testing.B, size string) {
	structured, _ := json.Marshal(map[string]string{"text": reports[size]})
	content, _ := json.Marshal(string(structured))
	result := `,"result":{"content":[{"type":"text","text":` + string(content) + `}],"structuredContent":` + string(structured) + `}}`
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		frame, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		head := frame[:len(`{"jsonrpc":"2.0","id":`)+bytes.IndexByte(frame[len(`{"jsonrpc":"2.0","id":`):], ',')]
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(head)+len(result)))
		_, _ = w.Write(head)
		_, _ = io.WriteString(w, result)
	}))
	defer ts.Close()
	benchmark(b, 1, ts.URL, jsonHeaders(), func(i int) string { return callBody(fmt.Sprint(i), "report", size) })
}
