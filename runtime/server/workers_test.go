package server

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/internal/stack"
)

// However many handlers do not return, and whichever end their goroutine, no request waits for another one's handler.
func TestNoRequestWaitsForAnothersHandler(t *testing.T) {
	release, begun := make(chan struct{}), make(chan struct{}, 100)
	f := dual(t, Definition{Tools: []Tool{tool("wait", structured(func(_ context.Context, _ *Call, in *echoInput) (*echoOutput, error) {
		begun <- struct{}{}
		switch in.Text {
		case "exit":
			runtime.Goexit()
		case "wait":
			<-release
		}
		return &echoOutput{Text: in.Text}, nil
	}))}})
	c := f.dial(t.Context())
	c.initialize(`{}`)
	const requests = 60
	for i := range requests {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait","arguments":{"text":%q}}}`, 10+i, []string{"wait", "exit", "return"}[i%3]))
	}
	for range requests {
		<-begun
	}
	close(release)
	answered := map[string]bool{}
	for range requests {
		answered[string(c.next().ID)] = true
	}
	if len(answered) != requests {
		t.Errorf("%d of %d requests are answered", len(answered), requests)
	}
}

// One goroutine of a connection stays when nothing waits. It serves the next request, others are served meanwhile, and it ends with the connection, which
// the leak check of this package sees.
func TestOneGoroutineOfAConnectionStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, ran := make(chan struct{}), make(chan uint64, 3)
		f := dual(t, Definition{Tools: []Tool{tool("wait", structured(func(_ context.Context, _ *Call, in *echoInput) (*echoOutput, error) {
			ran <- stack.Goroutine()
			if in.Text == "wait" {
				<-release
			}
			return &echoOutput{Text: in.Text}, nil
		}))}})
		c := f.dial(t.Context())
		c.initialize(`{}`)
		call := func(id int, text string) {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait","arguments":{"text":%q}}}`, id, text))
		}
		for i := range 20 {
			call(10+3*i, "return")
			c.next()
			synctest.Wait() // the goroutine has nothing to do, and stays
			stays := <-ran
			call(11+3*i, "wait")
			if got := <-ran; got != stays {
				t.Errorf("goroutine %d serves the next request, want %d, which has served the last one", got, stays)
			}
			call(12+3*i, "return")
			if got, want := string(c.next().ID), fmt.Sprint(12+3*i); got != want {
				t.Fatalf("%s is answered before %s", got, want)
			}
			<-ran
			release <- struct{}{}
			c.next()
			synctest.Wait()
		}
		c.close()
	})
}
