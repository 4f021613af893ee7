package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// A question that was taken back is asked again when the host has been told that it is gone, and as another Question.
func TestCAN31AQuestionIsGoneBeforeItIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var events []string
		var asked, gone []*client.Question
		s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithHandlers(client.Handlers{
			Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				mu.Lock()
				events, asked = append(events, "asked"), append(asked, q)
				mu.Unlock()
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
			QuestionGone: func(q *client.Question, _ error) {
				time.Sleep(time.Second)
				mu.Lock()
				defer mu.Unlock()
				events, gone = append(events, "gone"), append(gone, q)
			},
		}))
		go p.each(func(message) {})
		x := resume(t, s)
		p.send("%s", form(7, "open"))
		synctest.Wait()
		x.Detach()
		resume(t, s).Detach() // before the host has been told
		resume(t, s)
		sleep(t.Context(), time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if want := []string{"asked", "gone"}; len(events) < 3 || !slices.Equal(events[:2], want) || events[len(events)-1] != "asked" {
			t.Errorf("%q", events)
		}
		if len(asked) != 2 || asked[0] == asked[1] || gone[0] != asked[0] {
			t.Errorf("asked with %p, gone: %p", asked, gone)
		}
	})
}

// The receipt for a late answer says why that one is late, whatever has become of the question since.
func TestCAN31ALateAnswerHasTheReasonOfItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := []chan struct{}{make(chan struct{}), make(chan struct{})}
		asked, answered := make(chan chan struct{}, 2), make(chan error, 2)
		for _, c := range release {
			asked <- c
		}
		s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithHandlers(client.Handlers{
			Elicit: func(context.Context, *client.Question) (*client.Answer, error) {
				<-<-asked
				return &client.Answer{Action: client.Declined}, nil
			},
			Answered: func(_ *client.Question, err error) { answered <- err },
		}))
		x := p.follow(t, s)
		p.send("%s", form(7, "open"))
		synctest.Wait()
		x.Detach()
		p.follow(t, s)
		close(release[1])
		p.next()
		if err := <-answered; err != nil {
			t.Error(err)
		}
		close(release[0])
		var cause *client.Cause
		if err := <-answered; !errors.As(err, &cause) || !strings.Contains(cause.Reason, "not followed any more") {
			t.Errorf("%v", err)
		}
	})
}
