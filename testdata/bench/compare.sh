#!/usr/bin/env bash
# Runs the benchmarks of a commit and of this tree in alternating rounds, since the speed of a machine drifts, and compares them
# with benchstat:
#
#	testdata/bench/compare.sh BASE [ROUNDS]
#
# Peers are left out, because they are the same on both sides, and so are benchmarks of 100,000 entries, because they are slow.
set -euo pipefail
base=$1 rounds=${2:-10}
benchtime=${BENCHTIME:-100ms}
root=$(git rev-parse --show-toplevel)
work=$root/.build/compare
packages=(runtime/check runtime/inflight runtime/rpc runtime/server runtime/streamhttp runtime/task schema schema/manifest generator generator/internal/emit testdata/bench)
ours='^Benchmark(Call|Cancel|Task|Decode)/./mcpkiln|Reject' # in testdata/bench
slow=${SKIP:-'100000|Naive|Floor|./100000'}

rm -rf "$work" && mkdir -p "$work"
git worktree add -q --detach "$work/base" "$base"
trap 'git worktree remove --force "$work/base"' EXIT

# build SIDE TREE compiles the benchmarks of every package of a tree.
build() {
	for package in "${packages[@]}"; do
		(cd "$2/$package" && go test -c -o "$work/$1-${package//\//-}" .)
	done
}

# round SIDE TREE runs them once, each in its package's folder.
round() {
	local package pattern
	for package in "${packages[@]}"; do
		pattern=.
		[ "$package" != testdata/bench ] || pattern=$ours
		(cd "$2/$package" && "$work/$1-${package//\//-}" -test.run '^$' -test.bench "$pattern" -test.skip "$slow" \
			-test.benchmem -test.benchtime "$benchtime") >>"$work/$1.txt"
	done
}

build base "$work/base"
build this "$root"
for ((i = 1; i <= rounds; i++)); do
	round base "$work/base"
	round this "$root"
	echo "round $i of $rounds" >&2
done
go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da -alpha 0.01 base="$work/base.txt" this="$work/this.txt"
