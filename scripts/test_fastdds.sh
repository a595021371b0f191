#!/usr/bin/env bash
# Runs the tests of the engine on Fast DDS that open sessions: the conformance suite, stock nodes, XML
# profiles. A run that hangs is begun anew, twice at most: Fast DDS 3.2 takes a lock in its flow
# controller that the same thread holds (docs/decisions/0021-fastdds-engine.md). A test that fails is
# a failure, whichever run it is.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-target}"
package=(-p feros-rmw-fastdds --features suite --target-dir "$target" --locked)

shared_memory() { find /dev/shm -maxdepth 1 -name '*fastdds*' | sort; }

cargo test "${package[@]}" --no-run
for test in conformance network profiles stock; do
    for run in 1 2 3; do
        before="$(shared_memory)" code=0
        timeout --signal=KILL 300 cargo test "${package[@]}" --test "$test" || code=$?
        ((code == 137)) || break
        # What a killed process leaves.
        comm -13 <(printf '%s\n' "$before") <(shared_memory) | xargs --no-run-if-empty rm -f
        echo "engine on Fast DDS: $test hung in run $run" >&2
    done
    ((code == 0)) || exit "$code"
done
