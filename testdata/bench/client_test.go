package bench

import (
	"bufio"
	"context"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgotypes "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/orders/orders"
	"github.com/mcpkiln/mcpkiln/testdata/orders/ordersclient"
)

// placing places the order of all benchmarks and returns whether it was accepted. It is called concurrently.
type placing func(ctx context.Context) (bool, error)

// clients are those under test, in the order in which benchstat shows them. Each calls the same generated server over the same pipe.
var clients = []struct {
	name string
	dial func(b *testing.B, r io.ReadCloser, w io.WriteCloser) placing
}{{"by-hand", dialByHand}, {"mcpkiln", dialGenerated}, {"go-sdk", dialSDK}, {"mcp-go", dialMCPGo}}

// BenchmarkClientPipe is one call of a tool from a typed input to a typed output, from one goroutine and from 64, in memory.
func BenchmarkClientPipe(b *testing.B) { benchmarkClient(b, inMemory) }

// BenchmarkClientStdio is the same over pipes of the system, which a client and its child process have between them.
func BenchmarkClientStdio(b *testing.B) { benchmarkClient(b, bySystem) }

func benchmarkClient(b *testing.B, pipe piping) {
	for _, n := range []int{1, 64} {
		for _, c := range clients {
			b.Run(inFlight(n)+"/"+c.name, func(b *testing.B) {
				r, w := serveShop(b, pipe)
				place := c.dial(b, r, w)
				b.ReportAllocs()
				b.ResetTimer()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				for range n {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							if ok, err := place(b.Context()); err != nil || !ok {
								b.Errorf("accepted %t, %v", ok, err)
								return
							}
						}
					})
				}
				wg.Wait()
				b.StopTimer()
			})
		}
	}
}

// piping makes a pipe.
type piping func(*testing.B) (io.ReadCloser, io.WriteCloser)

func inMemory(*testing.B) (io.ReadCloser, io.WriteCloser) { return io.Pipe() }

func bySystem(b *testing.B) (io.ReadCloser, io.WriteCloser) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	return r, w
}

// serveShop serves the orders project and returns the other end of its pipes.
func serveShop(b *testing.B, pipe piping) (io.ReadCloser, io.WriteCloser) {
	serverR, clientW := pipe(b)
	clientR, serverW := pipe(b)
	srv, err := orders.New(shop{})
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- srv.Serve(server.WithPrincipal(context.Background(), "bench"), rpc.Lines(serverR, serverW, serverR, rpc.LineOptions{}))
	}()
	b.Cleanup(func() {
		clientW.Close()
		go io.Copy(io.Discard, clientR)
		<-served
	})
	return clientR, clientW
}

type shop struct{ orders.Handlers }

func (shop) PlaceOrder(context.Context, *server.Call, *orders.PlaceOrderInput) (*orders.PlaceOrderOutput, error) {
	return &orders.PlaceOrderOutput{Accepted: true}, nil
}

func dialGenerated(b *testing.B, r io.ReadCloser, w io.WriteCloser) placing {
	session, err := client.Connect(b.Context(), client.Conn(rpc.Lines(r, w, r, rpc.LineOptions{})), client.WithRevision("2025-11-25"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { session.Close() })
	c := ordersclient.New(session)
	return func(ctx context.Context) (bool, error) {
		out, err := c.PlaceOrder(ctx, &ordersclient.PlaceOrderInput{Symbol: "ACME", Side: ordersclient.PlaceOrderInputSideBuy, Quantity: 100,
			Limit: check.Some(12.5), Note: check.Some("at the open")})
		if err != nil {
			return false, err
		}
		return out.Accepted, nil
	}
}

func dialSDK(b *testing.B, r io.ReadCloser, w io.WriteCloser) placing {
	session, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), &mcp.IOTransport{Reader: r, Writer: w}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { session.Close() })
	return func(ctx context.Context) (bool, error) {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "place_order", Arguments: sdkOrder{Symbol: "ACME", Side: "buy", Quantity: 100, Limit: 12.5, Note: "at the open"}})
		if err != nil {
			return false, err
		}
		out, _ := result.StructuredContent.(map[string]any)
		return out["accepted"] == true, nil
	}
}

func dialMCPGo(b *testing.B, r io.ReadCloser, w io.WriteCloser) placing {
	c := mcpgo.NewClient(transport.NewIO(r, w, io.NopCloser(nil)))
	if err := c.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	var hello mcpgotypes.InitializeRequest
	hello.Params.ProtocolVersion, hello.Params.ClientInfo = "2025-11-25", mcpgotypes.Implementation{Name: "bench", Version: "1"}
	if _, err := c.Initialize(b.Context(), hello); err != nil {
		b.Fatal(err)
	}
	return func(ctx context.Context) (bool, error) {
		var call mcpgotypes.CallToolRequest
		call.Params.Name, call.Params.Arguments = "place_order", sdkOrder{Symbol: "ACME", Side: "buy", Quantity: 100, Limit: 12.5, Note: "at the open"}
		result, err := c.CallTool(ctx, call)
		if err != nil {
			return false, err
		}
		out, _ := result.StructuredContent.(map[string]any)
		return out["accepted"] == true, nil
	}
}

// handClient is what a patient person writes to call one tool: checked arguments, a channel for each request in flight, one goroutine that
// reads, and an answer that is parsed as the schema says. It has no cancellation, timeouts, limits or lists of violations.
type handClient struct {
	mu      sync.Mutex
	w       io.Writer
	frame   []byte
	last    int
	waiting map[string]chan handAnswer
}

type handAnswer struct {
	accepted bool
	err      error
}

func dialByHand(b *testing.B, r io.ReadCloser, w io.WriteCloser) placing {
	l := handshake(b, w, r)
	h := &handClient{w: w, waiting: map[string]chan handAnswer{}}
	go h.read(l.r)
	return func(context.Context) (bool, error) {
		return h.place(&ordersclient.PlaceOrderInput{Symbol: "ACME", Side: "buy", Quantity: 100, Limit: check.Some(12.5), Note: check.Some("at the open")})
	}
}

func (h *handClient) place(in *ordersclient.PlaceOrderInput) (bool, error) {
	if !in.Limit.Set || !in.Note.Set || !soundOrder(in) {
		return false, errByHand
	}
	done := make(chan handAnswer, 1)
	h.mu.Lock()
	h.last++
	id := strconv.Itoa(h.last)
	h.waiting[id] = done
	b := append(h.frame[:0], `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"method":"tools/call","params":{"name":"place_order","arguments":{"symbol":"`...)
	b = append(b, in.Symbol...)
	b = append(b, `","side":"`...)
	b = append(b, in.Side...)
	b = append(b, `","quantity":`...)
	b = strconv.AppendInt(b, in.Quantity, 10)
	b = append(b, `,"limit":`...)
	b = strconv.AppendFloat(b, in.Limit.Value, 'g', -1, 64)
	b = append(b, `,"note":`...)
	b = strconv.AppendQuote(b, in.Note.Value)
	b = append(b, "}}}\n"...)
	h.frame = b
	_, err := h.w.Write(b)
	h.mu.Unlock()
	if err != nil {
		return false, err
	}
	answer := <-done
	return answer.accepted, answer.err
}

func soundOrder(in *ordersclient.PlaceOrderInput) bool {
	for _, c := range []byte(in.Symbol) {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return len(in.Symbol) >= 1 && len(in.Symbol) <= 8 && (in.Side == "buy" || in.Side == "sell") && in.Quantity >= 1 && in.Quantity <= 1_000_000 &&
		in.Limit.Value > 0 && len(in.Note.Value) <= 80
}

func (h *handClient) read(r *bufio.Reader) {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		id, answer := readReceipt(line)
		h.mu.Lock()
		done := h.waiting[id]
		delete(h.waiting, id)
		h.mu.Unlock()
		if done != nil {
			done <- answer
		}
	}
}

// readReceipt reads an answer; what is not structured content is skipped.
func readReceipt(line []byte) (id string, answer handAnswer) {
	h := hand{data: line}
	for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
		switch f = h.field(answerNames, f+1); f {
		case 1:
			id = string(h.skip())
		case 2:
			for f, more := -1, h.open('{', '}'); more; more = h.more('}') {
				if f = h.field(resultNames, f+1); f == 1 {
					answer.accepted = h.receipt().Accepted
				} else {
					h.skip()
				}
			}
		default:
			h.skip()
		}
	}
	answer.err = h.end()
	return id, answer
}
