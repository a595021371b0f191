#!/usr/bin/env bash
# Runs fuzz targets for some seconds each, two at a time.
#
#   scripts/fuzz.sh SECONDS [TARGET...]   runs all, or these
#   scripts/fuzz.sh build                 compiles the program that has all targets
#   scripts/fuzz.sh list                  prints their names
#
# A run begins with what fuzz/seeds/TARGET holds; what is found on the way goes to fuzz/corpus,
# crashes to fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
usage="usage: scripts/fuzz.sh SECONDS [TARGET...], or build, or list"
what="${1:?$usage}"
shift
# The coverage instrumentation needs no sanitizer, and without one the stable compiler does. Decoders are safe Rust:
# what a sanitizer would find there, the checks of the language find.
RUSTC_BOOTSTRAP=1 cargo-fuzz build --sanitizer none feros-fuzz
[[ $what != build ]] || exit 0
program="fuzz/target/$(rustc -vV | sed -n 's/^host: //p')/release/feros-fuzz"
mapfile -t known < <(FEROS_FUZZ_TARGET=list "$program" 2>/dev/null)
if [[ $what == list ]]; then
    printf '%s\n' "${known[@]}"
    exit 0
fi
[[ $what =~ ^[0-9]+$ ]] || { printf 'fuzz: error: %s is no number of seconds; %s\n' "$what" "$usage" >&2; exit 2; }
targets=("${@:-${known[@]}}")
for target in "${targets[@]}"; do
    [[ " ${known[*]} " == *" $target "* ]] ||
        { printf 'fuzz: error: there is no target %s (known: %s)\n' "$target" "${known[*]}" >&2; exit 2; }
done

logs="$(mktemp -d)"
trap 'jobs -p | xargs -r kill 2>/dev/null; rm -rf "$logs"' EXIT
trap 'exit 143' INT TERM HUP

# fuzz TARGET: runs one; its last line, or all lines when it fails.
fuzz() {
    local target="$1" log="$logs/$1" corpora=("fuzz/corpus/$1")
    mkdir -p "${corpora[0]}" "fuzz/artifacts/$target"
    [[ ! -d "fuzz/seeds/$target" ]] || corpora+=("fuzz/seeds/$target")
    # libFuzzer writes hundreds of lines.
    if FEROS_FUZZ_TARGET="$target" "$program" "${corpora[@]}" -artifact_prefix="fuzz/artifacts/$target/" \
        -max_total_time="$what" -rss_limit_mb=2048 >"$log" 2>&1; then
        printf 'fuzz: %s: %s\n' "$target" "$(tail -n 1 "$log")"
    else
        printf 'fuzz: %s failed:\n%s\n' "$target" "$(cat "$log")"
        touch "$log.failed"
    fi
}

for target in "${targets[@]}"; do
    while (($(jobs -rp | wc -l) >= 2)); do wait -n || true; done
    fuzz "$target" &
done
wait
failed="$(find "$logs" -name '*.failed' | wc -l)"
printf '%d passed, %d failed\n' $((${#targets[@]} - failed)) "$failed"
((failed == 0))
