package server

import (
	"os"
	"os/signal"
	"syscall"
)

// EndSignals returns the signals that ask a server to end in order, for signal.NotifyContext: an interrupt, SIGTERM, and the end of the terminal or
// connection that it was started from (SIGHUP), unless it was started to ignore that, as by nohup. Run handles them by itself.
func EndSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
