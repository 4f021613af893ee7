package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// errNoHands is why a handler has failed.
var errNoHands = errors.New("no hands")

// hasSource reports whether an error is a *Cause of that source.
func hasSource(source inflight.Source) func(error) bool {
	return func(err error) bool {
		var cause *client.Cause
		return errors.As(err, &cause) && cause.Source == source
	}
}

// A host hears once what has become of its answer to a question that is asked as a task: when the server fetches the result, or when it is known that it does not.
func TestTSK26EXT22AHostHearsWhatBecomesOfTheResultOfItsTask(t *testing.T) {
	fetches := func(a *asking, id string) { a.request("fetched", "tasks/result", ref(id)) }
	for name, c := range map[string]struct {
		answer error // of the handler
		early  bool  // what follows comes before the handler answers
		then   func(a *asking, id string)
		want   func(err error) bool
	}{
		"fetched":       {then: fetches, want: func(err error) bool { return err == nil }},
		"fetched twice": {then: func(a *asking, id string) { fetches(a, id); fetches(a, id) }, want: func(err error) bool { return err == nil }},
		"waited for": {early: true, then: func(a *asking, id string) {
			a.send(`{"jsonrpc":"2.0","id":"r","method":"tasks/result","params":%s}`, ref(id))
		}, want: func(err error) bool { return err == nil }},
		"rejected":        {answer: client.ErrRejected, then: fetches, want: func(err error) bool { return err == nil }},
		"failed":          {answer: errNoHands, then: func(*asking, string) {}, want: func(err error) bool { return errors.Is(err, errNoHands) }},
		"failed, fetched": {answer: errNoHands, then: fetches, want: func(err error) bool { return errors.Is(err, errNoHands) }},
		"not fetched":     {then: func(*asking, string) { time.Sleep(2 * time.Minute) }, want: func(err error) bool { return strings.Contains(fmt.Sprint(err), "not fetched") }},
		"cancelled":       {early: true, then: func(a *asking, id string) { a.request("c", "tasks/cancel", ref(id)) }, want: hasSource(inflight.SourcePeer)},
		"closed":          {then: func(a *asking, _ string) { _ = a.s.Abort() }, want: hasSource(inflight.SourceShutdown)},
		"lost":            {then: func(a *asking, _ string) { _ = a.conn.Close() }, want: hasSource(inflight.SourceDisconnect)},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := askTasks(t)
			heard := a.answered
			id, _ := a.create("sampling/createMessage", sampleParams)
			if !c.early {
				a.release <- c.answer
				synctest.Wait()
			}
			if c.answer == nil && len(heard) > 0 {
				t.Errorf("%s: there is a receipt already: %v", name, <-heard)
			}
			c.then(a, id)
			if synctest.Wait(); c.early {
				a.release <- c.answer
			}
			if synctest.Wait(); strings.Contains(name, "waited") {
				a.next()
				synctest.Wait()
			}
			if len(heard) != 1 {
				t.Fatalf("%s: heard %d times", name, len(heard))
			}
			if err := <-heard; !c.want(err) {
				t.Errorf("%s: %v", name, err)
			}
			if _ = a.s.Abort(); len(heard) > 0 {
				t.Errorf("%s: and then %v", name, <-heard)
			}
		})
	}
}

// A result that the server refuses to take has not arrived.
func TestTSK26EXT22AResultThatIsNotTaken(t *testing.T) {
	for code, want := range map[int]func(error) bool{http.StatusAccepted: func(err error) bool { return err == nil }, http.StatusBadRequest: isStatus(http.StatusBadRequest)} {
		synctest.Test(t, func(t *testing.T) {
			created := make(chan message, 1)
			heard := make(chan error, 10)
			s, d := dialDeafTo(t, func(_ int, m message) (*http.Response, error) {
				switch string(m.ID) {
				case `"result"`:
					return status(code), nil
				case `"task"`:
					created <- m
				}
				return status(http.StatusAccepted), nil
			}, client.WithHandlers(client.Handlers{Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				return accept(ctx, q)
			}, Answered: func(q *client.Question, err error) {
				if strings.Contains(string(q.Params), `"task":{}`) {
					heard <- err
				}
			}}))
			x := resume(t, s)
			sleep(t.Context(), time.Second)
			synctest.Wait()
			d.say(strings.Replace(onceForm("task"), `"params":{`, `"params":{"task":{},`, 1))
			_, id, _ := strings.Cut(string((<-created).Result), `"taskId":"`)
			id, _, _ = strings.Cut(id, `"`)
			if synctest.Wait(); len(heard) > 0 {
				t.Fatalf("%d: there is a receipt already: %v", code, <-heard)
			}
			d.say(`{"jsonrpc":"2.0","id":"result","method":"tasks/result","params":` + ref(id) + `}`)
			if synctest.Wait(); len(heard) != 1 {
				t.Fatalf("%d: heard %d times", code, len(heard))
			}
			if err := <-heard; !want(err) {
				t.Errorf("%d: %v", code, err)
			}
			x.Detach()
		})
	}
}

// VAL07: of results that the server does not fetch, only so many questions are kept for their receipts.
func TestVAL07OnlySoManyResultsWaitToBeFetched(t *testing.T) {
	for size, most := range map[int]int{10: 256, 100 << 10: 10} {
		synctest.Test(t, func(t *testing.T) {
			a := askTasks(t)
			for range most + 20 {
				a.create("elicitation/create", strings.Replace(elicitParams, `"?"`, `"`+strings.Repeat("?", size)+`"`, 1))
				a.release <- nil
				synctest.Wait()
			}
			if n := len(a.answered); n < 20 || n > 21 {
				t.Errorf("of %d bytes: %d are told that their results were not fetched", size, n)
			}
			_ = a.s.Abort()
		})
	}
}
