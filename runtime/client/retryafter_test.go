package client

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// Retry-After is a number of seconds, or a date in any form of HTTP. It is bounded, and what is past or says nothing is no time to wait.
func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now().UTC()
		at := func(d time.Duration, layout string) string { return now.Add(d).Format(layout) }
		for _, c := range []struct {
			said, date string
			want       time.Duration
		}{
			{said: "20", want: 20 * time.Second},
			{said: "0"},
			{said: "-20"},
			{said: "86400", want: time.Hour},
			{said: at(20*time.Second, http.TimeFormat), want: 20 * time.Second},
			{said: at(20*time.Second, time.RFC850), want: 20 * time.Second},
			{said: at(20*time.Second, time.ANSIC), want: 20 * time.Second},
			{said: at(-20*time.Second, http.TimeFormat)},
			{said: at(24*time.Hour, http.TimeFormat), want: time.Hour},
			{said: at(20*time.Second, http.TimeFormat), date: at(5*time.Second, http.TimeFormat), want: 15 * time.Second},
			{said: at(20*time.Second, http.TimeFormat), date: "yesterday", want: 20 * time.Second},
			{said: "soon"},
			{},
		} {
			header := http.Header{"Retry-After": {c.said}, "Date": {c.date}}
			if got := retryAfter(&http.Response{Header: header}); got != c.want {
				t.Errorf("%q at %q: %v, want %v", c.said, c.date, got, c.want)
			}
		}
	})
}
