#!/usr/bin/env bash
# Prints the table of foreign clients: table.sh SERVER. Each program prints its rows; what failed, it tells on stderr. The status is 1 when
# anything did.
set -uo pipefail
cd "$(dirname "$0")"
server=$1
failed=0
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

# collect DIR COMMAND... keeps the rows of one program.
collect() {
	(cd "$1" && shift && "$@") | grep '^row' | cut -f 2- >>"$rows" || failed=1
}

with_node() { PATH="node_modules/.bin:$PATH" node "$@"; }

collect node with_node table.mjs "$server"
collect node with_node inspectors.mjs "$server"
collect gosdk1 go run . "$server"
collect gosdk1 go run -modfile v1.8.0.mod . -name 'Go SDK 1.8.0' -revision 2026-07-28 "$server"
collect mcpgo go run -modfile v0.32.0.mod -tags mcpgo_v0_32 . 'mcp-go 0.32.0' "$server"
collect mcpgo go run -modfile v0.43.2.mod -tags mcpgo_v0_43 . 'mcp-go 0.43.2' "$server"
collect mcpgo go run . 'mcp-go 1.2.1' "$server"

{
	printf 'client\ttransport\trevision\tconnect\tlist\tcall\terror\tprogress\tcancel\tquestion\n'
	cat "$rows"
} | { column -t -s $'\t' 2>/dev/null || cat; }
echo "$(wc -l <"$rows") rows; - is what the client does not have"
exit $failed
