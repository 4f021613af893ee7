#!/usr/bin/env bash
# Has scaffolded servers of two commits serve the tasks of one database side by side, and compares what their clients get:
#
#	runtime/task/postgres/testdata/versions.sh [BASE]
#
# BASE is the commit before the one that brought today's format of stored tasks.
set -euo pipefail
root=$(git rev-parse --show-toplevel) work=$(mktemp -d)
format=$(sed -n 's/^const Format = \([0-9]*\)$/\1/p' "$root/runtime/task/form_now.go")
base=${1:-$(git log --reverse --format=%H -G"^const Format = $format\$" -- "$root/runtime/task/form.go" "$root/runtime/task/form_now.go" | sed -n 1p)^}
git worktree add -q --detach "$work/base" "$base"
trap 'git worktree remove --force "$work/base"; rm -rf "$work"' EXIT

# build SIDE TREE builds the server that the tree's command scaffolds.
build() {
	local project=$work/$1/reports # of one name, which is the server's: sessions are good for servers of that name
	mkdir "$work/$1"
	(cd "$2" && go build -o "$work/$1/mcpkiln" ./cmd/mcpkiln)
	"$work/$1/mcpkiln" init --module example.com/reports --store postgres --replace "$2" "$project" >"$work/$1/log"
	sed -i 's/taskSupport: optional/taskSupport: required/' "$project/mcpkiln.yaml" # so that its question is the task's in every revision
	(cd "$project" && "$work/$1/mcpkiln" generate && go mod tidy -e && go build -o ../server .) >>"$work/$1/log" 2>&1 || { cat "$work/$1/log"; false; }
}

build before "$work/base"
build now "$root"
echo "before: $(git log -1 --format='%h %s' "$base")"
cd "$root/runtime/task/postgres"
go test -count=1 -v -parallel 32 -tags versions -run DUR07VersionsSideBySide . -args -before "$work/before/server" -now "$work/now/server"
