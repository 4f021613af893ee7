//go:build unix

package console_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// TestAQuestionThatIsGoneCloses: nobody is left with a form whose answer nobody waits for.
func TestAQuestionThatIsGoneCloses(t *testing.T) {
	a := ask(t, "", of(`"name":{"type":"string"}`), of(`"name":{"type":"string"}`)) // one waits for the other
	a.Sees("name")
	if err := a.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Error(err)
	}
	a.answers("null request ended by peer: taken back\nnull request ended by peer: taken back")
	if !erased.MatchString(a.Raw()) {
		t.Errorf("the form is left on the screen: %q", a.Raw())
	}
}

// TestKeysTypedBeforeAQuestionAnswerNothing.
func TestKeysTypedBeforeAQuestionAnswerNothing(t *testing.T) {
	for _, q := range []client.Question{of(""), {Server: "shop", URL: "https://login.example/", Host: "login.example"}} {
		a := ask(t, "PATH=", q)
		a.Types("yy\ry\x1b")
		a.Sees("asks")
		a.Types("n")
		a.answers(`{"Action":"decline","Content":null} <nil>`)
	}
}

// TestKeysForAWithdrawnQuestionAnswerNoOther: it is said that it was withdrawn, and the next form hears keys after a pause in which its user has seen it.
func TestKeysForAWithdrawnQuestionAnswerNoOther(t *testing.T) {
	for _, c := range []struct {
		next client.Question
		no   string
	}{
		{of(""), `{"Action":"decline","Content":null}`}, {of(`"pay":{"type":"boolean"}`), `{"Action":"accept","Content":{"pay":false}}`},
		{client.Question{Server: "shop", URL: "https://login.example/", Host: "login.example"}, `{"Action":"decline","Content":null}`},
	} {
		a := ask(t, "INTURN=1", of(`"name":{"type":"string"}`), c.next)
		a.Sees("name")
		a.Types("nick")
		a.Sees("nick")
		if err := a.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
			t.Error(err)
		}
		a.Types("y")
		a.Sees("mcpkiln: the question was withdrawn, and no answer was sent")
		a.Types("y")
		a.Sees("This is another question: keys count when none has come for 1.5s.")
		a.Types("y\ry\x1b")
		a.TypesUntilEnded("n", 3*time.Second) // no key came for 1.5 s before the next
		a.answers("null request ended by peer: taken back\n" + c.no + " <nil>")
	}
}

// TestEnterAgreesToNothing where a form has no fields.
func TestEnterAgreesToNothing(t *testing.T) {
	a := ask(t, "", of(""))
	a.Sees("[No]")
	a.Types("\r")
	a.answers(`{"Action":"decline","Content":null} <nil>`)
}

// TestCtrlCEndsAllQuestions: nothing is asked or said of those that wait for their turn.
func TestCtrlCEndsAllQuestions(t *testing.T) {
	a := ask(t, "", of(""), of(""), of(""))
	a.Sees("Agree?")
	a.Types("\x03")
	lines := strings.Split(a.answered(), "\n") // in the order in which goroutines print them
	if slices.Sort(lines); !slices.Equal(lines, []string{"null interrupted", "null the terminal shows no more", "null the terminal shows no more"}) {
		t.Errorf("got %q\nthe screen: %q", lines, a.Text())
	}
	if n := strings.Count(a.Text(), "  | Well?"); n != 1 {
		t.Errorf("%d messages are shown: %q", n, a.Text())
	}
}
