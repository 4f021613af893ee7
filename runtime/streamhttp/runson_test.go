package streamhttp

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// The end of a session is no shutdown: a call that can not be cancelled runs to its end, and a shutdown later is not late for it.
func TestCAN14AProtectedCallRunsOnAfterItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBubble(t)
		session := f.initialize()
		go f.post(callBody("1", "keep", ""), session)
		<-f.began
		f.want(f.do(f.request(http.MethodDelete, "", session)), 204)
		time.Sleep(time.Minute)
		select {
		case cause := <-f.causes:
			t.Errorf("it was ended: %v", cause)
		default:
			f.release <- struct{}{}
		}
		if err := f.h.Shutdown(t.Context()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
}
