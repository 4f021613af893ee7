package client

import "net/http"

// unfollowed is a RoundTripper that hides redirects from package http, which parses Location even if CheckRedirect refuses, and quotes it in its errors.
type unfollowed struct{ base http.RoundTripper } // nil: http.DefaultTransport

// redirectsTo is the header in which an unfollowed redirect has its Location.
const redirectsTo = "Unfollowed-Location"

// RoundTrip implements http.RoundTripper.
func (u unfollowed) RoundTrip(req *http.Request) (*http.Response, error) {
	base := u.base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(req)
	if err != nil || resp.StatusCode < 300 || resp.StatusCode >= 400 {
		return resp, err
	}
	resp.Header = resp.Header.Clone()
	resp.Header.Set(redirectsTo, resp.Header.Get("Location"))
	resp.Header.Del("Location")
	return resp, nil
}
