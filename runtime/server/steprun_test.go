package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// beside is a tool that asks in one goroutine and works in another one; failed gets the error of the work of each run.
func beside(work func(ctx context.Context, call *Call) error, failed *[]error) Tool {
	return tool("pay", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		var all sync.WaitGroup
		var asked, worked error
		all.Go(func() { _, asked = Ask(ctx, call, confirmQuestion(), "") })
		all.Go(func() { worked = work(ctx, call) })
		all.Wait()
		*failed = append(*failed, worked)
		return &echoOutput{"paid"}, errors.Join(asked, worked)
	}))
}

// confirmed answers the question of a call that asks, and returns the answer of the retry.
func (f *fixture) confirmed(tool string) message {
	f.t.Helper()
	m, keys, state := f.try(f.t.Context(), forms, tool, `{}`, "")
	if len(keys) != 1 || keys[0] != "confirm" {
		f.t.Fatal(m.raw)
	}
	m, _, _ = f.try(f.t.Context(), forms, tool, `{}`, answering(state, `{"confirm":`+accepted+`}`))
	return m
}

// A step that is under way when the questions end the run is recorded before they go out, with the steps that are a part of it: the retry does not
// repeat it.
func TestEXT17AStepUnderWayIsRecordedBeforeTheQuestionsGoOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done []string
		var failed []error
		f := dual(t, Definition{Tools: []Tool{beside(func(ctx context.Context, call *Call) error {
			_, err := Do(ctx, call, "order", func(ctx context.Context) (string, error) {
				done = append(done, "order")
				time.Sleep(300 * time.Millisecond)
				return Do(ctx, call, "charge", func(ctx context.Context) (string, error) {
					done = append(done, "charge")
					return "receipt", ctx.Err()
				})
			})
			return err
		}, &failed)}})
		if m := f.confirmed("pay"); m.str("result", "structuredContent", "text") != "paid" || strings.Join(done, " ") != "order charge" ||
			errors.Join(failed...) != nil {
			t.Errorf("done: %v, errors: %v, %s", done, failed, m.raw)
		}
	})
}

// The time to answer begins when the question goes out, not when the handler asked.
func TestEXT17WaitingForAStepTakesNoTimeToAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed []error
		f := dual(t, Definition{Tools: []Tool{beside(func(ctx context.Context, call *Call) error {
			_, err := Do(ctx, call, "slow", func(context.Context) (int, error) { time.Sleep(2 * time.Minute); return 1, nil })
			return err
		}, &failed)}})
		if m := f.confirmed("pay"); m.str("result", "structuredContent", "text") != "paid" {
			t.Error(m.raw)
		}
	})
}

// No step begins once the questions end the run: nobody would know that it was done.
func TestEXT17NoStepBeginsWhenTheQuestionsEndTheRun(t *testing.T) {
	for name, late := range map[string]func(ctx context.Context, call *Call){
		"answered": func(ctx context.Context, _ *Call) { <-ctx.Done() },
		"waiting for another step": func(ctx context.Context, call *Call) {
			go func() {
				_, _ = call.Do(ctx, "slow", func(context.Context) ([]byte, error) { time.Sleep(time.Second); return nil, nil })
			}()
			time.Sleep(500 * time.Millisecond)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			ran := 0
			var failed []error
			f := dual(t, Definition{Tools: []Tool{beside(func(ctx context.Context, call *Call) error {
				if !call.r.retried() {
					late(ctx, call)
				}
				_, err := Do(ctx, call, "charge", func(context.Context) (int, error) { ran++; return ran, nil })
				return err
			}, &failed)}})
			m := f.confirmed("pay")
			synctest.Wait()
			if m.str("result", "structuredContent", "text") != "paid" || ran != 1 || !errors.Is(failed[0], ErrAsked) {
				t.Errorf("%s: %d times, errors: %v, %s", name, ran, failed, m.raw)
			}
		})
	}
}

// A step that asks does not hold up the run that its question ends (REV01), whatever ctx its steps and questions use on its goroutine.
func TestEXT17AStepThatAsksIsNotWaitedFor(t *testing.T) {
	for name, choose := range map[string]func(handler, step context.Context) context.Context{
		"the ctx of the step":    func(_, step context.Context) context.Context { return step },
		"the ctx of the handler": func(handler, _ context.Context) context.Context { return handler },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failed []error
				f := dual(t, Definition{Tools: []Tool{tool("pay", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
					said, err := Do(ctx, call, "outer", func(outer context.Context) (string, error) {
						return Do(choose(ctx, outer), call, "inner", func(inner context.Context) (string, error) {
							_, err := Ask(choose(ctx, inner), call, confirmQuestion(), "")
							failed = append(failed, err)
							return "paid", nil // what it returns without the answer is not recorded
						})
					})
					failed = append(failed, err)
					return &echoOutput{said}, err
				}))}})
				began := time.Now()
				m := f.confirmed("pay")
				if m.str("result", "structuredContent", "text") != "paid" || fmt.Sprint(failed) != fmt.Sprint([]error{ErrAsked, ErrAsked, nil, nil}) {
					t.Errorf("errors: %v, %s", failed, m.raw)
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// A step that is under way beside one that asks with the ctx of the handler is still waited for, with its parts, which may use that ctx, too.
func TestEXT17AStepBesideOneThatAsksIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var charged atomic.Int64
		f := dual(t, Definition{Tools: []Tool{tool("pay", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			var all sync.WaitGroup
			var asked, worked error
			all.Go(func() {
				_, asked = Do(ctx, call, "asks", func(context.Context) (bool, error) {
					a, err := Ask(ctx, call, confirmQuestion(), "")
					return a.Accepted(), err
				})
			})
			all.Go(func() {
				_, worked = Do(ctx, call, "works", func(context.Context) (int64, error) {
					time.Sleep(time.Second)
					return Do(ctx, call, "charge", func(context.Context) (int64, error) { return charged.Add(1), nil })
				})
			})
			all.Wait()
			return &echoOutput{"paid"}, errors.Join(asked, worked)
		}))}})
		if m := f.confirmed("pay"); m.str("result", "structuredContent", "text") != "paid" || charged.Load() != 1 {
			t.Errorf("charged %d times: %s", charged.Load(), m.raw)
		}
	})
}

// Questions that wait for long for a step say in the log what may be the cause: a goroutine of the step that asks with another ctx waits for ever.
func TestEXT17AStepThatIsWaitedForForLongIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records bytes.Buffer
		pay := tool("pay", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			_, err := Do(ctx, call, "charge", func(context.Context) (int, error) {
				var all sync.WaitGroup
				var err error
				all.Go(func() { _, err = Ask(ctx, call, confirmQuestion(), "") })
				all.Wait()
				return 1, err
			})
			return &echoOutput{}, err
		}))
		pay.Cancel.Timeout = time.Minute
		f := dual(t, Definition{Tools: []Tool{pay}}, WithLogger(slog.New(slog.NewTextHandler(&records, nil))))
		m := f.ask(t.Context(), frame(1, "tools/call", forms, callParams("pay", `{}`)))
		if !strings.Contains(m.raw, "pay timed out after 1m0s") {
			t.Error(m.raw)
		}
		_ = f.srv.Shutdown(t.Context()) // the log is written in another goroutine
		if log := records.String(); strings.Count(log, "questions wait") != 1 || !strings.Contains(log, "with the ctx of the step") || !strings.Contains(log, "steps=[charge]") {
			t.Error(log)
		}
	})
}

// The call's timeout bounds how long a step is waited for. Do does not return the value, because it is not recorded.
func TestEXT17AStepIsWaitedForUntilTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed []error
		pay := beside(func(ctx context.Context, call *Call) error {
			_, err := Do(ctx, call, "charge", func(context.Context) (int, error) { time.Sleep(time.Hour); return 1, nil })
			return err
		}, &failed)
		pay.Cancel.Timeout = time.Minute
		f := dual(t, Definition{Tools: []Tool{pay}})
		began, out := time.Now(), newInbox(t)
		ended := f.begin(t.Context(), frame(1, "tools/call", forms, callParams("pay", `{}`)), out)
		time.Sleep(time.Minute)
		synctest.Wait()
		if m := out.take(); !strings.Contains(m.raw, "pay timed out after 1m0s") || time.Since(began) != time.Minute {
			t.Error(m.raw)
		}
		<-ended
		if failed[0] == nil {
			t.Error("Do returned a value that is not recorded")
		}
	})
}

// The cancellation of the call ends the ctx of its steps, and the wait for them.
func TestCAN19ACancellationReachesAStepThatIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed []error
		pay := beside(func(ctx context.Context, call *Call) error {
			_, err := Do(ctx, call, "charge", func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, context.Cause(ctx) })
			return err
		}, &failed)
		f := dual(t, Definition{Tools: []Tool{pay}})
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		ended := f.begin(ctx, frame(1, "tools/call", forms, callParams("pay", `{}`)), newInbox(t))
		synctest.Wait()
		cancel()
		<-ended
		if cause := (*inflight.Cause)(nil); time.Since(began) > time.Second || !errors.As(failed[0], &cause) {
			t.Errorf("after %v: %v", time.Since(began), failed[0])
		}
	})
}

// No step begins in a call that was cancelled, in any revision, nor after its handler has returned.
func TestCAN19NoStepBeginsWhenTheCallIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int64
		step := func(ctx context.Context, call *Call) error {
			_, err := Do(context.WithoutCancel(ctx), call, "charge", func(context.Context) (int, error) { ran.Add(1); return 1, nil })
			return err
		}
		var cancelled, returned error
		c := newFixture(t, []Tool{
			tool("slow", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
				_, _ = Do(ctx, call, "first", give(1))
				<-ctx.Done()
				cancelled = step(ctx, call)
				return nil, ctx.Err()
			})),
			tool("leaves", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
				_, _ = Do(ctx, call, "first", give(1))
				go func() { <-ctx.Done(); returned = step(ctx, call) }()
				return &echoOutput{}, nil
			})),
		}).dial(t.Context())
		c.initialize(`{}`)
		c.call("1", "slow", `{}`)
		synctest.Wait()
		c.cancel("1")
		c.call("2", "leaves", `{}`)
		c.answer("2")
		synctest.Wait()
		cause := (*inflight.Cause)(nil)
		if !errors.As(cancelled, &cause) || cause.Source != inflight.SourcePeer || !errors.Is(returned, errCallOver) || ran.Load() != 0 {
			t.Errorf("%d steps, errors: %v, %v", ran.Load(), cancelled, returned)
		}
		c.close()
	})
}

// An answer that is still being read when other questions end the run is not lost.
func TestEXT17AnAnswerThatIsBeingReadIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, other := confirmQuestion(), confirmQuestion()
		slow.Decode = func(d *check.Decoder, v *confirmation) { time.Sleep(time.Second); decodeConfirmation(d, v) }
		other.Name = "other"
		f := dual(t, Definition{Tools: []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			var all sync.WaitGroup
			var errs [2]error
			all.Go(func() { _, errs[0] = Ask(ctx, call, slow, "") })
			all.Go(func() { _, errs[1] = Ask(ctx, call, other, "") })
			all.Wait()
			return &echoOutput{"both"}, errors.Join(errs[:]...)
		}))}})
		_, _, state := f.try(t.Context(), forms, "ask", `{}`, "")
		_, _, state = f.try(t.Context(), forms, "ask", `{}`, answering(state, `{"confirm":`+accepted+`}`))
		m, _, _ := f.try(t.Context(), forms, "ask", `{}`, answering(state, `{"other":`+accepted+`}`))
		if m.str("result", "structuredContent", "text") != "both" {
			t.Error(m.raw)
		}
	})
}

// The error of too much request state names what takes it, and what to do.
func TestEXT17TooMuchStateNamesTheStep(t *testing.T) {
	large := stepped("fetch", give(strings.Repeat("x", maxState)), func(string) string { return "" })
	f := dual(t, Definition{Tools: []Tool{large}})
	m := f.ask(t.Context(), frame(1, "tools/call", forms, callParams("pay", `{}`)))
	m.wantError(t, -32603, `the largest part is the value of the step "fetch": let the step return less`)
}
