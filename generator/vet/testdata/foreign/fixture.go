// Package foreign has a server on another library.
package foreign

import (
	"context"
	"time"
)

// Request is what that library's handlers take.
type Request struct{ Name string }

func handle(ctx context.Context, r *Request) error {
	time.Sleep(time.Second) // want "time.Sleep goes on when the call is cancelled"
	return nil
}

func help(ctx context.Context, name string) error {
	time.Sleep(time.Second)
	return nil
}

var handlers = map[string]func(context.Context, Request) error{
	"say": func(ctx context.Context, r Request) error {
		time.Sleep(time.Second) // want "time.Sleep goes on when the call is cancelled"
		return nil
	},
}

// Alias is another name of a request.
type Alias = struct{ name string }

func handleAlias(ctx context.Context, r *Alias) error {
	time.Sleep(time.Second) // want "time.Sleep goes on when the call is cancelled"
	return nil
}
