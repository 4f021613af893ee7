module github.com/mcpkiln/mcpkiln/testdata/conformance/client/program

go 1.26.0

require (
	github.com/mcpkiln/mcpkiln v0.0.0
	github.com/mcpkiln/mcpkiln/runtime/client/oauth v0.0.0
	github.com/modelcontextprotocol/go-sdk v1.8.0
)

require (
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace (
	github.com/mcpkiln/mcpkiln => ../../../..
	github.com/mcpkiln/mcpkiln/runtime/client/oauth => ../../../../runtime/client/oauth
)
