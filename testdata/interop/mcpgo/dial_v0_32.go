//go:build mcpgo_v0_32

package main

import (
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
)

// canAsk is false: this version has no questions.
const canAsk = false

func dialStdio(binary string, opts []client.ClientOption) (*client.Client, error) {
	return client.NewClient(transport.NewStdio(binary, nil), opts...), nil
}

func dialHTTP(url string, opts []client.ClientOption) (*client.Client, error) {
	t, err := transport.NewStreamableHTTP(url)
	if err != nil {
		return nil, err
	}
	return client.NewClient(t, opts...), nil
}
