module github.com/mcpkiln/mcpkiln/runtime/jsonschema

go 1.26.0

require (
	github.com/mcpkiln/mcpkiln v0.0.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.2
	golang.org/x/text v0.14.0
)

replace github.com/mcpkiln/mcpkiln => ../..
