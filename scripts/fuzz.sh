#!/usr/bin/env bash
# Runs fuzz targets for some seconds each, two at a time.
#
#   scripts/fuzz.sh SECONDS [TARGET...]   runs all, or these
#   scripts/fuzz.sh build                 compiles the program that contains all targets
#   scripts/fuzz.sh list                  prints their names
#
# A run begins with the inputs in fuzz/seeds/TARGET; new inputs go to fuzz/corpus/TARGET, crashes to
# fuzz/artifacts/TARGET.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"

refuse() {
    printf 'fuzz: error: %s\n' "$1" >&2
    exit 2
}

usage="usage: scripts/fuzz.sh SECONDS [TARGET...], or build, or list"
what="${1:-}"
[[ $what =~ ^([1-9][0-9]*|build|list)$ ]] || refuse "'$what' is not a number of seconds; $usage"
shift
# Each file except main.rs is a target. Names are checked first, since building takes minutes.
mapfile -t known < <(basename -s .rs fuzz/fuzz_targets/*.rs | grep -vx main)
for target; do
    [[ " ${known[*]} " == *" $target "* ]] ||
        refuse "there is no target '$target' (known: ${known[*]})"
done
(($# > 0)) || set -- "${known[@]}"
if [[ $what == list ]]; then
    printf '%s\n' "${known[@]}"
    exit 0
fi

# With job control, each job is a process group, so a signal also reaches the programs that the job
# starts.
set -m
logs="$(mktemp -d)"
finish() {
    for job in $(jobs -p); do kill -- "-$job" 2>/dev/null || true; done
    wait
    rm -rf "$logs"
}
trap finish EXIT
trap 'exit 143' INT TERM HUP

# The coverage instrumentation needs no sanitizer, so the stable compiler suffices. Decoders are
# written in safe Rust, whose own checks find the faults that a sanitizer would find.
folder="${CARGO_TARGET_DIR:-fuzz/target}"
host="$(rustc -vV | sed -n 's/^host: //p')"
RUSTC_BOOTSTRAP=1 cargo-fuzz build --sanitizer none --target "$host" --target-dir "$folder" \
    feros-fuzz &
wait $!
[[ $what != build ]] || exit 0

declare -A running=() # the target of each process
passed=0 failed=0

start() {
    local target="$1" corpora=("fuzz/corpus/$1")
    mkdir -p "${corpora[0]}" "fuzz/artifacts/$target"
    [[ ! -d "fuzz/seeds/$target" ]] || corpora+=("fuzz/seeds/$target")
    # TMPDIR is a folder that is removed, since a killed target leaves files.
    FEROS_FUZZ_TARGET="$target" TMPDIR="$logs" "$folder/$host/release/feros-fuzz" \
        "${corpora[@]}" -artifact_prefix="fuzz/artifacts/$target/" \
        -max_total_time="$what" -rss_limit_mb=2048 >"$logs/$target" 2>&1 &
    running[$!]="$target"
}

# Waits for one target, and prints its outcome. libFuzzer writes hundreds of lines; if the target
# passed, the last one is enough.
report() {
    local process code=0 target
    wait -n -p process "${!running[@]}" || code=$?
    target="${running[$process]}"
    unset "running[$process]"
    if ((code == 0)); then
        printf 'fuzz: %s: %s\n' "$target" "$(tail -n 1 "$logs/$target")"
        passed=$((passed + 1))
    else
        printf 'fuzz: %s failed, with code %d:\n' "$target" "$code"
        cat "$logs/$target"
        failed=$((failed + 1))
    fi
}

for target; do
    ((${#running[@]} < 2)) || report
    start "$target"
done
while ((${#running[@]} > 0)); do report; done
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
