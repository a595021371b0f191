#!/usr/bin/env bash
# Runs the tests of the engine on Fast DDS that open sessions: the conformance suite, stock nodes, and
# XML profiles. A run that hangs or crashes is begun anew, twice at most, and says so: Fast DDS has a
# lock that it may hang in (eProsima/Fast-DDS#6502, docs/decisions/0021-fastdds-engine.md). A test
# that fails is a failure, whichever run it is.
#
#   scripts/test_fastdds.sh             as ./test does, with the Fast DDS that the build finds: 3, of .venv
#   scripts/test_fastdds.sh --fastdds2  as ./test does, with Fast DDS 2 of Debian (libfastrtps-dev) or of the
#                                       prefix in FEROS_FASTDDS_PREFIX; what is built for 3 is built again after it
#   scripts/test_fastdds.sh --library   the library's own tests on this engine, as ./test does;
#                                       --fastdds2 --library: with Fast DDS 2
set -euo pipefail
usage() { echo "test_fastdds: error: unknown argument $1 (known: --fastdds2, --library)" >&2; exit 2; }
tests=engine
for argument in "$@"; do
    case "$argument" in
        --fastdds2) export FEROS_FASTDDS_PREFIX="${FEROS_FASTDDS_PREFIX:-/usr}" FEROS_FASTDDS_EXPECTED=2. ;;
        --library) tests=library ;;
        *) usage "$argument" ;;
    esac
done
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-target}"

# Segments and locks of Fast DDS 3, and of 2.
shared_memory() { find /dev/shm -maxdepth 1 \( -name '*fastdds*' -o -name '*fastrtps*' \) | sort; }

# Whether a process maps the file, or has it open.
is_used() {
    grep -qsF "$1" /proc/[0-9]*/maps || [[ -n "$(find /proc/[0-9]*/fd -lname "$1" -print -quit 2>/dev/null)" ]]
}

# remove_since BEFORE: what processes that were killed have left since then.
remove_since() {
    local file
    comm -13 <(printf '%s\n' "$1") <(shared_memory) | while read -r file; do
        is_used "$file" || rm -f "$file"
    done
}

# run NAME ARGUMENTS: a test, with these arguments of cargo.
run() {
    local name="$1" code before said
    shift
    for run in 1 2 3; do
        before="$(shared_memory)" code=0
        said="$(mktemp)"
        timeout --signal=KILL 300 cargo test --target-dir "$target" --locked "$@" 2>&1 | tee "$said" ||
            code=$?
        if grep -q "(signal: 11, SIGSEGV" "$said"; then code=139; fi
        rm "$said"
        remove_since "$before"
        ((code == 137 || code == 139)) || break
        echo "engine on Fast DDS: $name hung or crashed (code $code) in run $run" >&2
    done
    ((code == 0)) || exit "$code"
}

if [[ $tests == library ]]; then
    library=(-p feros --features fastdds --test it)
    cargo test --target-dir "$target" --locked "${library[@]}" --no-run
    FEROS_ENGINE=fastdds run library "${library[@]}"
    exit
fi
package=(-p feros-rmw-fastdds --features suite)
cargo test --target-dir "$target" --locked "${package[@]}" --no-run
for test in has_shim arrival conformance exit hosts profiles publication_mode stock; do
    run "$test" "${package[@]}" --test "$test"
done
