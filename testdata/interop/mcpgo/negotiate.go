//go:build !mcpgo_v0_32 && !mcpgo_v0_43

package main

import "github.com/mark3labs/mcp-go/client"

// negotiations are the ways in which the client comes to a revision: as it likes, and as the versions before it.
func negotiations() [][]client.ClientOption {
	return [][]client.ClientOption{nil, {client.WithLegacyProtocolOnly()}}
}
