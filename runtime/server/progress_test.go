package server

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const withToken = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":"tok"}}}`

// progressOf runs fn as a tool that was called with a token and returns the notifications before the answer.
func progressOf(t *testing.T, frame string, fn func(ctx context.Context, call *Call), opts ...Option) (before []message, c *client) {
	t.Helper()
	c = newFixture(t, []Tool{tool("work", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		fn(ctx, call)
		return &echoOutput{}, nil
	}))}, opts...).dial(t.Context())
	c.initialize(`{}`)
	c.send(frame)
	_, before = c.answer("1")
	return before, c
}

func values(messages []message) (list []string) {
	for _, m := range messages {
		list = append(list, m.field("params", "progress"))
	}
	return list
}

func TestPRO01OnlyWithTheRequestsToken(t *testing.T) {
	report := func(ctx context.Context, call *Call) { call.Progress(ctx, 1, 2, "half") }
	if got, _ := progressOf(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work"}}`, report); len(got) != 0 {
		t.Errorf("without a token: %v", got)
	}
	for _, token := range []string{`"tok"`, `7`, `9007199254740993`} {
		got, _ := progressOf(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":`+token+`}}}`, report)
		want := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":` + token + `,"message":"half","total":2}}`
		if len(got) != 1 || got[0].raw != want {
			t.Errorf("want %s, got %v", want, got)
		}
	}
}

func TestPRO01NeverAfterTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leaked := make(chan *Call, 1)
		_, c := progressOf(t, withToken, func(ctx context.Context, call *Call) {
			call.Progress(ctx, 1, 0, "")
			leaked <- call
		})
		call := <-leaked
		call.Progress(context.Background(), 2, 0, "")
		time.Sleep(time.Second)
		if got := c.fence(); len(got) != 0 {
			t.Error(got)
		}
		c.close()
	})
}

// The first report of a call, too, may come when it is over.
func TestPRO01TheFirstReportMayComeTooLate(t *testing.T) {
	leaked := make(chan *Call, 1)
	var dropped []Outcome
	_, c := progressOf(t, withToken, func(_ context.Context, call *Call) { leaked <- call }, WithObserver(func(e Event) {
		if e.Kind == ProgressDropped {
			dropped = append(dropped, e.Outcome)
		}
	}))
	call := <-leaked
	call.Progress(context.Background(), 1, 0, "")
	if got := c.fence(); len(got) != 0 {
		t.Error(got)
	}
	if !slices.Equal(dropped, []Outcome{TooLate}) {
		t.Errorf("observed %v", dropped)
	}
}

func TestPRO01NeverAfterTheCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFixture(t, []Tool{tool("work", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			for i := range 100 { // more than the rate: some are held back when the cancellation comes
				call.Progress(context.Background(), float64(i+1), 0, "")
			}
			<-ctx.Done()
			call.Progress(context.Background(), 1000, 0, "")
			return nil, ctx.Err()
		}))}).dial(t.Context())
		c.initialize(`{}`)
		c.send(withToken)
		synctest.Wait()
		c.cancel("1")
		c.fence()
		time.Sleep(time.Minute)
		if len(c.frames) != 0 {
			t.Error(c.next().raw)
		}
		c.close()
	})
}

func TestPRO02ValuesIncrease(t *testing.T) {
	got, _ := progressOf(t, withToken, func(ctx context.Context, call *Call) {
		for _, v := range []float64{-3, -5, 0, 0, math.NaN(), 0.5, 0.25, math.Inf(1), 2} {
			call.Progress(ctx, v, 0, "")
		}
	})
	want := []string{"-3", "0", "0.5", "2"}
	if list := values(got); !slices.Equal(list, want) {
		t.Error(list)
	}
}

// TestPRO02TotalsThatMeanNothingAreLeftOut: a total is not below the value, and a number; otherwise it is unknown. That is logged once a call.
func TestPRO02TotalsThatMeanNothingAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log syncBuffer
		got, c := progressOf(t, withToken, func(ctx context.Context, call *Call) {
			for i, total := range []float64{10, 1, -1, math.NaN(), math.Inf(1), 6, 0} {
				call.Progress(ctx, float64(i), total, "")
				time.Sleep(time.Second) // the rate drops none
			}
			call.Progress(ctx, math.NaN(), 0, "")
		}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		var sent []string
		for _, m := range got {
			sent = append(sent, m.field("params", "progress")+" of "+m.field("params", "total"))
		}
		if want := []string{"0 of 10", "1 of 1", "2 of ", "3 of ", "4 of ", "5 of 6", "6 of "}; !slices.Equal(sent, want) {
			t.Errorf("got %q, want %q", sent, want)
		}
		c.close()
		synctest.Wait()
		if n := strings.Count(log.String(), "progress that means nothing"); n != 1 {
			t.Errorf("logged %d times: %s", n, log.String())
		}
	})
}

func TestPRO05TightLoopIsRateLimitedAndTheLastValueArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const steps = 5000 // one a millisecond
		type arrival struct {
			at    time.Time
			value int
		}
		var list []arrival
		c := newFixture(t, []Tool{tool("work", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			for i := range steps {
				call.Progress(ctx, float64(i+1), steps, "")
				time.Sleep(time.Millisecond)
			}
			return &echoOutput{}, nil
		}))}).dial(t.Context())
		c.initialize(`{}`)
		c.send(withToken)
		for {
			m := c.next()
			if m.Method == "" {
				break
			}
			v, _ := strconv.Atoi(m.field("params", "progress"))
			list = append(list, arrival{time.Now(), v})
		}
		last := list[len(list)-1].value
		if last != steps {
			t.Errorf("the last value is %d", last)
		}
		for i := range list {
			n := 0
			for j := i; j < len(list) && list[j].at.Sub(list[i].at) < time.Second; j++ {
				n++
			}
			if n > 10 {
				t.Fatalf("%d notifications within a second", n)
			}
			if i > 0 && list[i].value <= list[i-1].value {
				t.Errorf("%d after %d", list[i].value, list[i-1].value)
			}
		}
		if len(list) < 20 {
			t.Errorf("only %d notifications in 5 seconds", len(list))
		}
		c.close()
	})
}

func TestPRO05HeldBackValuesAreSentWhenTheyMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		freed := make(chan struct{})
		c := newFixture(t, []Tool{tool("work", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			for i := range 50 {
				call.Progress(ctx, float64(i+1), 0, "")
			}
			<-freed
			return &echoOutput{}, nil
		}))}).dial(t.Context())
		c.initialize(`{}`)
		c.send(withToken)
		time.Sleep(5 * time.Second)
		var got []message
		for len(c.frames) > 0 {
			got = append(got, c.next())
		}
		if list := values(got); len(list) != 5 || list[4] != "50" {
			t.Error(list)
		}
		close(freed)
		c.answer("1")
		c.close()
	})
}
