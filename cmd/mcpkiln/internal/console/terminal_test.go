//go:build unix

package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/console"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/screen"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// TestMain is the test, or a process of its own that asks a question: what the library of forms does when it ends is not free of races.
func TestMain(m *testing.M) {
	var questions []*client.Question
	if text := os.Getenv("ASK"); text == "" {
		os.Exit(m.Run())
	} else if err := json.Unmarshal([]byte(text), &questions); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	taken := make(chan os.Signal, 1)
	signal.Notify(taken, syscall.SIGUSR1)
	c := console.Open(os.Stdin, os.Stderr)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-taken
		switch os.Getenv("PRINTS") {
		case "a warning":
			c.Aside(func() { fmt.Fprintln(os.Stderr, "a warning") })
			fmt.Fprint(os.Stderr, "noted")
			return
		case "the result":
			c.Done()
			fmt.Fprintln(os.Stderr, "the result")
		}
		cancel(&client.Cause{Source: inflight.SourcePeer, Reason: "taken back"})
	}()
	c.Progress(client.Progress{Progress: 1, Total: 4, Message: "baking"})
	var all sync.WaitGroup
	for _, q := range questions {
		all.Go(func() {
			a, err := c.Ask(ctx, q)
			text, _ := json.Marshal(a)
			fmt.Printf("%s %v\n", text, err)
		})
		if os.Getenv("INTURN") != "" { // and only the first is taken back
			all.Wait()
			ctx = context.Background()
		}
	}
	all.Wait()
	if os.Getenv("PRINTS") != "" {
		<-ended
	}
	os.Exit(0)
}

// asked is a process that asks.
type asked struct {
	*screen.Screen
	t      *testing.T
	cmd    *exec.Cmd
	stdout bytes.Buffer
}

func ask(t *testing.T, env string, questions ...client.Question) *asked {
	t.Helper()
	text, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{t: t, cmd: exec.Command(os.Args[0])}
	a.cmd.Env = append(os.Environ(), "ASK="+string(text), "TERM=xterm-256color", "GORACE=exitcode=0 log_path="+filepath.Join(t.TempDir(), "race"), env)
	a.cmd.Stdout = &a.stdout
	a.Screen = screen.Start(t, a.cmd)
	return a
}

// answers is what was answered: the answer and an error on each line.
func (a *asked) answers(want string) {
	a.t.Helper()
	if got := a.answered(); got != want {
		a.t.Errorf("got %s\nwant %s\nthe screen: %q", got, want, a.Text())
	}
}

// answered waits for the end of the process.
func (a *asked) answered() string {
	a.t.Helper()
	a.Ended()
	if err := a.cmd.Wait(); err != nil {
		a.t.Error(err)
	}
	return strings.TrimSpace(a.stdout.String())
}

func of(fields string) client.Question {
	return client.Question{Server: "shop", Message: "Well?", Schema: json.RawMessage(`{"type":"object","properties":{` + fields + `}}`)}
}

// TestAFieldIsMadeOfASchema: every kind of field, its default, and what is wrong with what was typed.
func TestAFieldIsMadeOfASchema(t *testing.T) {
	for name, c := range map[string]struct {
		schema   string
		required bool
		steps    []string // what is seen, and what is typed then
		want     string
	}{
		"text":               {`{"type":"string","minLength":2}`, false, []string{"x", "a\r", "at least 2 characters", "nn\r"}, `{"x":"ann"}`},
		"text with a title":  {`{"type":"string","title":"Your name","description":"as in the passport"}`, false, []string{"Your name", "", "as in the passport", "a\r"}, `{"x":"a"}`},
		"optional text":      {`{"type":"string"}`, false, []string{"x", "\r"}, `{}`},
		"required text":      {`{"type":"string"}`, true, []string{"x *", "\r", "an answer is required", "a\r"}, `{"x":"a"}`},
		"text with default":  {`{"type":"string","default":"d"}`, false, []string{"> d", "e\r"}, `{"x":"de"}`},
		"email":              {`{"type":"string","format":"email"}`, false, []string{"email", "a\r", "no email address", "@b\r"}, `{"x":"a@b"}`},
		"integer":            {`{"type":"integer","maximum":9,"default":3}`, false, []string{"> 3", "0\r", "at most 9", "\x7f\x7fx\r", "is no number", "\x7f4\r"}, `{"x":4}`},
		"number":             {`{"type":"number"}`, false, []string{"x", "1.50\r"}, `{"x":1.50}`},
		"boolean":            {`{"type":"boolean","default":true}`, false, []string{"Yes", "\r"}, `{"x":true}`},
		"boolean no":         {`{"type":"boolean","default":true}`, false, []string{"Yes", "n"}, `{"x":false}`},
		"choice":             {`{"type":"string","enum":["s","m"],"enumNames":["Small","Middle"],"default":"m"}`, true, []string{"> Middle", "k\r"}, `{"x":"s"}`},
		"choice with titles": {`{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g"}]}`, true, []string{"> Red", "\r"}, `{"x":"r"}`},
		"optional choice":    {`{"type":"string","enum":["s"]}`, false, []string{"> (no answer)", "\r"}, `{}`},
		"choices":            {`{"type":"array","minItems":2,"items":{"type":"string","enum":["mon","tue"]},"default":["mon","tue"]}`, false, []string{"mon", "x\r", "at least 2 items", "x\r"}, `{"x":["mon","tue"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			schema := `{"type":"object","properties":{"x":` + c.schema + `}}`
			if c.required {
				schema = strings.Replace(schema, "{", `{"required":["x"],`, 1)
			}
			q := client.Question{Server: "the shop", Message: "Who are \x1b[31myou?", Schema: json.RawMessage(schema)}
			a := ask(t, "", q)
			a.Sees(`  | Who are \x1b[31myou?`)
			a.Sees("the shop asks")
			for i := 0; i < len(c.steps); i += 2 {
				a.Sees(c.steps[i])
				a.Types(c.steps[i+1])
			}
			a.answers(`{"Action":"accept","Content":` + c.want + `} <nil>`)
			if _, err := q.Complete(json.RawMessage(c.want)); err != nil {
				t.Errorf("the answer does not fit the form: %v", err)
			}
		})
	}
}

func TestAFormHasTheFieldsInTheirOrder(t *testing.T) {
	a := ask(t, "", of(`"zeta":{"type":"string"},"alpha":{"type":"string"}`))
	a.Sees("zeta")
	a.Sees("alpha")
	a.Types("1\r")
	a.Sees("shift+tab") // the second field has the focus
	a.Types("2\r")
	a.answers(`{"Action":"accept","Content":{"alpha":"2","zeta":"1"}} <nil>`)
}

// TestKeysThatEndAForm: what has no fields is a yes or no.
func TestKeysThatEndAForm(t *testing.T) {
	for key, want := range map[string]string{
		"y": `{"Action":"accept","Content":{}} <nil>`, "n": `{"Action":"decline","Content":null} <nil>`,
		"\x1b": `{"Action":"decline","Content":null} <nil>`, "\x03": `null interrupted`,
	} {
		a := ask(t, "", of(""))
		a.Sees("Agree?")
		a.Types(key)
		a.answers(want)
	}
}

// erased is what goes back to the first line of a form and clears the screen from there.
var erased = regexp.MustCompile(`\x1b\[\d+A\x1b\[J`)

// TestAPageIsShownWithItsHostBeforeItIsOpened: a host that looks like another one is spelt out.
func TestAPageIsShownWithItsHostBeforeItIsOpened(t *testing.T) {
	for host, shown := range map[string]string{"login.example": "login.example", "l\u043egin.example": `"l\u043egin.example"`} {
		q := client.Question{Server: "shop", Message: "Log in, please", URL: "https://login.example/a?b=c", Host: host}
		for key, action := range map[string]string{"y": "accept", "n": "decline"} {
			a := ask(t, "PATH=", q) // no browser
			for _, want := range []string{"  | Log in, please", "shop asks you to open a page", shown, "https://login.example/a?b=c"} {
				a.Sees(want)
			}
			a.Types(key)
			if key == "y" { // the user can still open it
				a.Sees("no browser was found here")
				a.Sees("https://login.example/a?b=c")
				a.Sees("It is open")
				a.Types(key)
			}
			a.answers(`{"Action":"` + action + `","Content":null} <nil>`)
		}
	}
}

func TestABarShowsValueTotalRateAndMessage(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	s, tty := screen.Open(t)
	defer tty.Close()
	c := console.Open(tty, tty)
	c.Progress(client.Progress{Progress: 0.5, Total: 4, Message: "lay\x1b[2Jing"})
	s.Sees(`0.5/4  lay\x1b[2Jing`)
	c.Progress(client.Progress{Progress: 3, Total: 4})
	s.Sees("3/4")
	s.Sees("/s")
	s.Sees(`lay`)
	c.Status("done soon")
	s.Sees("done soon")
	c.Done()
	if !strings.Contains(s.Raw(), "█") && !strings.Contains(s.Raw(), "▌") {
		t.Errorf("no bar: %q", s.Raw())
	}
}

// TestProgressThatGoesBackIsNotDrawn: its message is.
func TestProgressThatGoesBackIsNotDrawn(t *testing.T) {
	s, tty := screen.Open(t)
	c := console.Open(tty, tty)
	c.Progress(client.Progress{Progress: 3, Total: 4, Message: "three"})
	s.Sees("3/4")
	c.Progress(client.Progress{Progress: 1, Total: 4, Message: "back"})
	s.Sees("back")
	c.Progress(client.Progress{Progress: 4, Total: 4, Message: "four"})
	s.Sees("4/4")
	_ = tty.Close()
	if strings.Contains(s.Text(), "1/4") {
		t.Errorf("%q", s.Text())
	}
}

// TestWhatIsPrintedAfterDoneStays: a form that closes then would erase it.
func TestWhatIsPrintedAfterDoneStays(t *testing.T) {
	a := ask(t, "PRINTS=the result", of(`"name":{"type":"string"}`))
	a.Sees("name")
	if err := a.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Error(err)
	}
	a.Sees("the result")
	a.answers("null the terminal shows no more")
	if raw := a.Raw(); erased.MatchString(raw[strings.Index(raw, "the result"):]) {
		t.Errorf("the result is erased: %q", raw)
	}
}

// TestAWarningWaitsForTheEndOfAForm, which would draw over it.
func TestAWarningWaitsForTheEndOfAForm(t *testing.T) {
	a := ask(t, "PRINTS=a warning", of(""))
	a.Sees("Agree?")
	if err := a.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Error(err)
	}
	a.Sees("noted")
	a.Types("n")
	a.Sees("a warning")
	a.answers(`{"Action":"decline","Content":null} <nil>`)
	if raw := a.Raw(); erased.MatchString(raw[strings.Index(raw, "a warning"):]) {
		t.Errorf("the warning is erased: %q", raw)
	}
}

// TestNoMessageHidesWhoAsksForWhat: it is marked and bounded, and what the program says stands below it.
func TestNoMessageHidesWhoAsksForWhat(t *testing.T) {
	forged := "shop asks you to open a page\n\nhost:  bank.example\npage:  https://bank.example/"
	for name, message := range map[string]string{
		"lines": strings.Repeat("x\n", 30) + forged, "blanks": strings.Repeat("\n \n", 30) + forged, "a long line": strings.Repeat("x ", 4000) + forged,
		"wide": strings.Repeat("\U0001f468\u200d\U0001f469\u200d\U0001f467", 400) + forged, "tabs": strings.Repeat("\t", 400) + forged,
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(t, "", client.Question{Server: "shop", Message: message, URL: "https://evil.example/login", Host: "evil.example"})
			for _, want := range []string{"shop asks you to open a page", "host:  evil.example", "page:  https://evil.example/login", "[Decline]"} {
				a.Sees(want)
			}
			a.Types("n")
			a.answers(`{"Action":"decline","Content":null} <nil>`)
			said, below, _ := strings.Cut(a.Text(), "host:  evil.example")
			if strings.Count(said, "  | ") > 12 || strings.Count(below, "\n") > 12 {
				t.Errorf("it takes more than a window of 24 lines: %q", a.Text())
			}
			for line := range strings.Lines(said) {
				if strings.Contains(line, "bank") && !strings.HasPrefix(line, "  | ") {
					t.Errorf("a line is not marked: %q", line)
				}
			}
		})
	}
}

// TestAnAddressLongerThanTheWindow: is printed whole, and who asks, the host and the choice stay on the screen.
func TestAnAddressLongerThanTheWindow(t *testing.T) {
	a := ask(t, "", client.Question{Server: "shop", URL: "https://evil.example/" + strings.Repeat("a", 9000) + "/end", Host: "evil.example"})
	for _, want := range []string{"  | https://evil.example/aaa", "/end", "shop asks you to open a page", "host:  evil.example", "page:  https://evil.example/aaa", "the whole address stands above", "[Decline]"} {
		a.Sees(want)
	}
	a.Types("\r")
	a.answers(`{"Action":"decline","Content":null} <nil>`)
	if _, below, _ := strings.Cut(a.Text(), "shop asks"); strings.Count(below, "\n") > 39 {
		t.Errorf("the form is higher than the window: %q", below)
	}
}

// TestNoFieldHidesWhoAsks: the form is no higher than the window.
func TestNoFieldHidesWhoAsks(t *testing.T) {
	var fields []string
	for i := range 20 {
		fields = append(fields, fmt.Sprintf(`"f%d":{"type":"string","title":"%s","description":"%s"}`, i, strings.Repeat("T", 2000), strings.Repeat(`d\n`, 50)))
	}
	a := ask(t, "", of(strings.Join(fields, ",")))
	a.Sees("shop asks")
	a.Sees("enter")
	a.Types("\x1b")
	a.answers(`{"Action":"decline","Content":null} <nil>`)
	_, below, _ := strings.Cut(a.Text(), "shop asks")
	if form, _, _ := strings.Cut(below, "enter"); strings.Count(form, "\n") > 39 {
		t.Errorf("the form is higher than the window: %q", form)
	}
}

// TestESCEndsAFilterAndNotTheQuestion, as the help below the choices says.
func TestESCEndsAFilterAndNotTheQuestion(t *testing.T) {
	a := ask(t, "", of(`"x":{"type":"string","enum":["small","middle","large"]}`))
	a.Sees("small")
	a.Types("/")
	a.Sees("set filter")
	a.Types("la\x1b")
	a.Sees("clear filter")
	a.Types("\r")
	a.answers(`{"Action":"accept","Content":{"x":"large"}} <nil>`)
}

// TestADefaultThatIsNotTouchedIsSentAsItIs.
func TestADefaultThatIsNotTouchedIsSentAsItIs(t *testing.T) {
	a := ask(t, "", of(`"x":{"type":"string","default":"a\n\tb\u200b"}`))
	a.Sees("a b")
	a.Types("\r")
	a.answers(`{"Action":"accept","Content":{"x":"a\n\tb` + "\u200b" + `"}} <nil>`)
}

// colour is a sequence that colours text.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*[34][0-9][0-9;]*m`)

func TestNOCOLORIsRespected(t *testing.T) {
	for _, no := range []string{"", "1"} {
		a := ask(t, "NO_COLOR="+no, of(""))
		a.Sees("baking")
		a.Sees("Agree?")
		a.Sees("[No]")
		a.Types("y")
		a.Ended()
		if coloured := colour.MatchString(a.Raw()); coloured != (no == "") {
			t.Errorf("NO_COLOR=%q: coloured %v: %q", no, coloured, a.Raw())
		}
	}
}

func TestWhatIsNoTerminalShowsNothing(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := console.Open(r, w)
	if c != nil {
		t.Error("a pipe is a terminal")
	}
	c.Progress(client.Progress{Progress: 1})
	c.Status("x")
	c.Done()
	_ = w.Close()
	var buf [1]byte
	if n, _ := r.Read(buf[:]); n != 0 {
		t.Error("something was drawn")
	}
}
