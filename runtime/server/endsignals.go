package server

import (
	"os"
	"os/signal"
	"syscall"
)

// EndSignals returns the signals that ask a server to end in order, for signal.NotifyContext: SIGTERM, and, unless it was started to ignore them, an
// interrupt, which a job ignores that a script starts with &, and the end of the terminal or connection that it was started from (SIGHUP), which
// nohup has it ignore. Run handles them by itself.
func EndSignals() []os.Signal {
	all := []os.Signal{syscall.SIGTERM}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			all = append(all, s)
		}
	}
	return all
}
