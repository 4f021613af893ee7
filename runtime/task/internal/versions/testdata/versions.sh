#!/usr/bin/env bash
# Has scaffolded servers of two commits serve the tasks of one database side by side, and those of one file after each other, and compares what their
# clients get:
#
#	runtime/task/internal/versions/testdata/versions.sh [BASE]
#
# BASE is the commit before the one that brought today's format of stored tasks.
set -euo pipefail
root=$(git rev-parse --show-toplevel) work=$(mktemp -d)
format=$(sed -n 's/^const Format = \([0-9]*\)$/\1/p' "$root/runtime/task/form_now.go")
base=${1:-$(git log --reverse --format=%H -G"^const Format = $format\$" -- "$root/runtime/task/form.go" "$root/runtime/task/form_now.go" | sed -n 1p)^}
git worktree add -q --detach "$work/base" "$base"
trap 'git worktree remove --force "$work/base"; rm -rf "$work"' EXIT

# build SIDE TREE STORE builds the server that the tree's command scaffolds.
build() {
	local side=$work/$3/$1
	local project=$side/reports # of one name, which is the server's: sessions are good for servers of that name
	mkdir -p "$side"
	(cd "$2" && go build -o "$side/mcpkiln" ./cmd/mcpkiln)
	"$side/mcpkiln" init --module example.com/reports --store "$3" --replace "$2" "$project" >"$side/log"
	sed -i 's/taskSupport: optional/taskSupport: required/' "$project/mcpkiln.yaml" # so that its question is the task's in every revision
	(cd "$project" && "$side/mcpkiln" generate && go mod tidy -e && go build -o ../server .) >>"$side/log" 2>&1 || { cat "$side/log"; false; }
}

echo "before: $(git log -1 --format='%h %s' "$base")"
for store in sqlite postgres; do
	build before "$work/base" $store
	build now "$root" $store
	(cd "$root/runtime/task/$store" && go test -count=1 -v -parallel 32 -tags versions -run DUR07Versions . \
		-args -before "$work/$store/before/server" -now "$work/$store/now/server")
done
