package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// malformed are answers to the request whose id they get, each wrong in another way.
var malformed = []string{
	"\ufeff" + `{"jsonrpc":"2.0","id":%s,"result":` + accepted + `}`,
	`{"jsonrpc":"2.0","id":%s,"error":"x"}`,
	`{"jsonrpc":"2.0","id":%s,"error":null}`,
	`{"jsonrpc":"2.0","id":%s}`,
	`{"jsonrpc":"2.0","id":%s,"error":{}}`,
	`{"jsonrpc":"2.0","id":%s,"error":[]}`,
	`{"jsonrpc":"2.0","id":%s,"error":{"code":1.5,"message":"m"}}`,
	`{"jsonrpc":"2.0","id":%s,"error":{"code":"1","message":"m"}}`,
	`{"jsonrpc":"2.0","id":%s,"error":{"code":1}}`,
	`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"m"},"result":` + accepted + `}`,
	`{"jsonrpc":"2.0","id":%s,"result":` + accepted + `,"result":` + accepted + `}`,
	`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","action":"decline"}}`,
	`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"overwrite":true,"overwrite":false}}}`,
	`{"jsonrpc":"2.0","result":{"action":"accept","content":{"overwrite":true,"why":"\ud800"}},"id":%s}`,
	`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"overwrite":true,"why":"` + "\xff" + `"}}}`,
	`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept",}}`,
	`{"jsonrpc":"2.0","id":%s,"result":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`,
	`{"jsonrpc":"1.0","id":%s,"result":` + accepted + `}`,
	`{"id":%s,"result":` + accepted + `}`,
	`{"jsonrpc":"2.0","id":%s,"result":null}`,
	`{"jsonrpc":"2.0","id":%s,"result":{"action":"bogus"}}`,
	`{"jsonrpc":"2.0","id":%s,"result":{"action":"Accept","content":{"overwrite":true}}}`,
	`{"jsonrpc":"2.0","id":%s,"result":{"action":"","content":{"overwrite":true}}}`,
	`{"jsonrpc":"2.0","id":%s,"result":{}}`,
	`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"why":"yes, pl`,
	`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"overwrite":true}`,
	`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"cut \`,
	`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","result":` + accepted + `}`,
	`{"jsonrpc":"2.0","method":"x","id":%s,"error":{"code":1,"message":"m"}}`,
	`{"jsonrpc":"2.0","id":%[1]s,"id":%[1]s,"result":` + accepted + `}`,
	`{"jsonrpc":"2.0","id":%[1]s,"result":` + accepted + `,"id":%[1]s}`,
}

func TestCAN30AMalformedAnswerSettlesItsQuestion(t *testing.T) {
	var log syncBuffer
	ended := make(chan error, 1)
	f := newFixture(t, []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		_, err := Ask(ctx, call, confirmQuestion(), "")
		ended <- err
		return &echoOutput{}, nil
	}), withTask(TaskOptional))}, WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	c := f.dialTasks("")
	for _, answer := range malformed {
		for _, asTask := range []bool{false, true} {
			if asTask {
				id := c.start("1", "ask", "")
				c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
			} else {
				c.call("2", "ask", `{}`)
			}
			q := c.nextRequest()
			c.srv.records.Flush(t.Context())
			log.take()
			c.send(fmt.Sprintf(answer, q.ID))
			var broken *AnswerError
			if err := <-ended; !errors.As(err, &broken) {
				t.Errorf("task %v: %s: the handler got %v", asTask, answer, err)
			}
			if _, before := c.answer("2"); len(before) > 0 && before[0].Error != nil {
				t.Errorf("an answer was answered: %s", before[0].raw)
			}
			c.srv.records.Flush(t.Context())
			if strings.Contains(answer, "error") && !strings.Contains(log.take(), "level=WARN msg=\"answer malformed\"") {
				t.Errorf("%s: nothing in the log", answer)
			}
		}
	}
}

// Wherever a question was asked, and whatever is wrong with its answer, the handler gets one kind of error, and the request ends in one way:
// a tool with what the model reads, another method with what the client did wrong.
func TestCAN30AMalformedAnswerIsOneErrorEverywhere(t *testing.T) {
	around := WithMiddleware(func(next Handle) Handle { return next })
	t.Run("plain", func(t *testing.T) { malformedEverywhere(t) })
	t.Run("middleware", func(t *testing.T) { malformedEverywhere(t, around) })
}

func malformedEverywhere(t *testing.T, opts ...Option) {
	t.Helper()
	ended := make(chan error, 1)
	asks := map[string]func(ctx context.Context, call *Call) error{
		"ask": func(ctx context.Context, call *Call) error {
			_, err := Ask(ctx, call, confirmQuestion(), "")
			return err
		},
		"send": func(ctx context.Context, call *Call) error {
			_, err := Send(ctx, call, &chooseRows, "which", &echoOutput{})
			return err
		},
	}
	ask := func(ctx context.Context, call *Call, kind string) (*echoOutput, error) {
		err := asks[kind](ctx, call)
		ended <- err
		return nil, err
	}
	handle := func(ctx context.Context, call *Call, in *echoInput) (*echoOutput, error) {
		return ask(ctx, call, in.Text)
	}
	f := dual(t, customDefinition(handle, func(context.Context, *Notice, *echoInput) error { return nil },
		tool("ask", structured(handle), withTask(TaskOptional))), opts...)
	c := f.dial(WithPrincipal(t.Context(), "somebody"))
	c.initialize(`{"elicitation":{},"experimental":{"com.example/rows":{}}}`)
	for _, answer := range append(malformed, `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{}}}`) {
		for kind := range asks {
			for _, place := range []string{"inline", "task", "method"} {
				switch place {
				case "inline":
					c.call("2", "ask", fmt.Sprintf(`{"text":%q}`, kind))
				case "task":
					c.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"text":%q},"task":{}}}`, kind)
					m, _ := c.answer("1")
					c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(m.str("result", "task", "taskId")))
				case "method":
					c.sendf(`{"jsonrpc":"2.0","id":2,"method":"rows/read","params":{"text":%q}}`, kind)
				}
				c.send(fmt.Sprintf(answer, c.nextRequest().ID))
				var broken *AnswerError
				if err := <-ended; !errors.As(err, &broken) {
					t.Errorf("%s, %s: %s: the handler got %v", kind, place, answer, err)
				}
				m, _ := c.answer("2")
				switch {
				case place == "method":
					m.wantError(t, -32602, "the client's answer to ")
					if m.field("error", "data", "violations") == "" {
						t.Errorf("%s, %s: %s: answered %s", kind, place, answer, m.raw)
					}
				case m.field("result", "isError") != "true" || !strings.Contains(m.raw, `answer to \"`):
					t.Errorf("%s, %s: %s: answered %s", kind, place, answer, m.raw)
				}
			}
		}
	}
}

// What is malformed and no answer to anything changes nothing, least of all a question that it does not name.
func TestCAN30OnlyTheQuestionThatIsMeantIsSettled(t *testing.T) {
	c := newFixture(t, []Tool{asker(confirmQuestion())}).dialTasks("")
	c.call("77", "ask", `{}`)
	q := c.nextRequest()
	for _, other := range []string{`99`, fmt.Sprintf("%q", q.ID), `null`, `1.5`} {
		for _, answer := range malformed {
			c.send(fmt.Sprintf(answer, other))
		}
	}
	for _, broken := range []string{`{"jsonrpc":"2.0","id":%s,"id":99,"result":{}}`, `{"jsonrpc":"2.0","id":%s,"method":5}`, `{"id":%s,"result":`} {
		c.sendf(broken, q.ID)
	}
	c.reply(q, accepted)
	if m, _ := c.answer("77"); m.str("result", "structuredContent", "text") != "accept true true" {
		t.Error(m.raw)
	}
}

func TestCAN30FieldsOfARetryAreNamed(t *testing.T) {
	ask := asker(confirmQuestion())
	codec := MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult}
	f := dual(t, Definition{Tools: []Tool{ask}, Methods: []MethodHandler{BindMethod("prompts/get",
		func(ctx context.Context, call *Call, _ *noInput) (*rawResult, error) {
			_, err := Ask(ctx, call, confirmQuestion(), "")
			return &rawResult{`{"messages":[]}`}, err
		}, codec)}})
	for more, name := range map[string]string{
		`"inputResponses":[]`:   "inputResponses",
		`"inputResponses":null`: "inputResponses",
		`"inputResponses":5`:    "inputResponses",
		`"requestState":""`:     "requestState",
		`"requestState":"","inputResponses":{"confirm":` + accepted + `}`:  "requestState",
		`"requestState":"x","inputResponses":{"confirm":` + accepted + `}`: "requestState",
		`"requestState":null`: "requestState",
		`"requestState":5`:    "requestState",
	} {
		f.ask(t.Context(), frame(1, "tools/call", forms, callParams("ask", `{}`)+","+more)).wantError(t, -32602, name)
		f.ask(t.Context(), frame(1, "prompts/get", forms, `"name":"p",`+more)).wantError(t, -32602, name)
	}
	changed := f.ask(t.Context(), frame(1, "tools/call", forms, callParams("ask", `{}`)+`,"requestState":"x"`))
	const why = "it was changed, belongs to another call, or is of an earlier process or key: call again without it"
	changed.wantError(t, -32602, "requestState: "+why)
	if !strings.Contains(changed.raw, `"violations":["/requestState: `+why+`"]`) {
		t.Errorf("the violation names its place more than once: %s", changed.raw)
	}
	id := f.create(t.Context(), "ask", `{}`, tasksAsks)
	for _, responses := range []string{`[]`, `null`, `5`} {
		f.ask(t.Context(), frame(1, "tasks/update", tasksAsks, byID(id)+`,"inputResponses":`+responses)).wantError(t, -32602, "inputResponses")
	}
	f.ask(t.Context(), frame(1, "tasks/cancel", tasksAsks, byID(id)))
}
