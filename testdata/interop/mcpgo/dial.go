//go:build !mcpgo_v0_32

package main

import (
	"context"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

const canAsk = true

// person answers every question in the same way.
type person struct{}

// Elicit implements client.ElicitationHandler.
func (person) Elicit(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{
		Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{"username": "ada", "email": "ada@example.com"},
	}}, nil
}

func dialStdio(binary string, opts []client.ClientOption) (*client.Client, error) {
	return client.NewClient(transport.NewStdio(binary, nil), append(opts, client.WithElicitationHandler(person{}))...), nil
}

func dialHTTP(url string, opts []client.ClientOption) (*client.Client, error) {
	t, err := transport.NewStreamableHTTP(url)
	if err != nil {
		return nil, err
	}
	return client.NewClient(t, append(opts, client.WithElicitationHandler(person{}))...), nil
}
