//go:build mcpgo_v0_32 || mcpgo_v0_43

package main

import "github.com/mark3labs/mcp-go/client"

func negotiations() [][]client.ClientOption { return [][]client.ClientOption{nil} }
