package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// doAgain sends a round that follows an input request, and has failed with err, again as long as the server says that it was not taken: with it, what the
// user has answered would be lost. A round that may have run is not sent twice, and the error says so.
func (c *call) doAgain(ctx context.Context, v *wire.Values, extra []byte, err error) (result []byte, _ error) {
	for misses := 0; err != nil; misses++ {
		least, again := c.notRun(err)
		switch {
		case !again:
			return nil, mayHaveRun(err)
		case misses == maxMisses:
			return nil, err
		}
		c.s.cfg.logger.Warn("a call was not taken with what it has asked for, and will be sent again", "tool", c.tool, "error", err)
		wait := func(ctx context.Context) error {
			sleep(ctx, max(least, backOff(defaultPoll, misses)))
			return nil
		}
		if err := c.between(ctx, wait); err != nil {
			return nil, err
		}
		result, err = c.do(ctx, v, extra)
	}
	return result, nil
}

// notRun reports whether the latest round has failed before the server ran it, and how long to wait at least before it is sent again.
func (c *call) notRun(err error) (wait time.Duration, sure bool) {
	var status *StatusError
	var said *Error
	var network *net.OpError
	switch {
	case errors.As(err, &status):
		return status.RetryAfter, isBusy(status)
	case errors.As(err, &said):
		wait, later := busy(said)
		return wait, later && (c.round.busy == nil || isBusy(c.round.busy))
	case errors.As(err, &network):
		return 0, network.Op == "dial"
	}
	return 0, false
}

// mayHaveRun returns the error of a round that was sent with answers, and may have run: its connection or a gateway has failed.
func mayHaveRun(err error) error {
	const ran = "the call was sent with what it has asked for, so it may have run, and is not sent again"
	var status *StatusError
	var lost *TransportError
	switch {
	case errors.As(err, &status) && status.transient():
		failed := *status
		failed.means = "; " + ran
		return &failed
	case errors.As(err, &lost):
		failed := *lost
		failed.Err = fmt.Errorf("%w; %s", lost.Err, ran)
		return &failed
	}
	return err
}
