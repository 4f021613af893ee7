//go:build unix

package server

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// CAN21: the end of the terminal ends a server in order, as SIGTERM does.
func TestCAN21EverySignalOfTheEndEndsInOrder(t *testing.T) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		survived := make(chan os.Signal, 1)
		signal.Notify(survived, s) // else a server that does not handle it would take the test along
		f := newFixture(t, []Tool{tool("echo", structured(echo))})
		client, conn := rpc.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.srv.Run(t.Context(), conn) }()
		if err := client.WriteFrame([]byte(initializeFrame)); err != nil {
			t.Fatal(err)
		}
		if _, err := client.ReadFrame(nil); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(os.Getpid(), s.(syscall.Signal)); err != nil {
			t.Fatal(err)
		}
		<-survived
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("%s: %v", s, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s does not end the server", s)
		}
		_ = client.Close()
		signal.Stop(survived)
	}
}

// A server that was started to ignore the end of its terminal, as by nohup, or an interrupt, as by a script that starts it with &, ignores it.
func TestCAN21AServerIgnoresWhatItWasStartedToIgnore(t *testing.T) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		received := make(chan os.Signal, 1)
		signal.Notify(received, s) // whatever the test was started to ignore
		if !slices.Contains(EndSignals(), s) {
			t.Errorf("%s is ignored", s)
		}
		signal.Ignore(s)
		if slices.Contains(EndSignals(), s) {
			t.Errorf("%s is not ignored", s)
		}
		signal.Reset(s)
	}
}
