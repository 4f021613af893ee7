package server

import "strings"

// Header is the header of an HTTP request: a http.Header that costs a server on standard input and output no net/http. Do not change it.
type Header map[string][]string

// Get returns the first value of the name, in whatever case, "" without one.
func (h Header) Get(name string) string {
	if values := h.Values(name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// Values returns all values of the name, in whatever case.
func (h Header) Values(name string) []string {
	if values, ok := h[name]; ok {
		return values
	}
	for other, values := range h {
		if strings.EqualFold(other, name) {
			return values
		}
	}
	return nil
}
