package client_test

import (
	"os"
	"os/signal"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-child" {
		child(os.Args[2:])
		return
	}
	// The first Notify starts the goroutine that hands signals on. In a bubble of synctest it would belong to that bubble.
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	goleak.VerifyTestMain(m)
}
