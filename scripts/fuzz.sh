#!/usr/bin/env bash
# Runs every fuzz target for some seconds: scripts/fuzz.sh SECONDS [TARGET...]
# Beginning with what fuzz/seeds/TARGET holds; what is found on the way goes to fuzz/corpus, crashes to fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
seconds="${1:?usage: scripts/fuzz.sh SECONDS [TARGET...]}"
shift
(($# > 0)) || mapfile -t all < <(cargo-fuzz list)
targets=("${@:-${all[@]}}")
[[ -n "${targets[0]:-}" ]] || { echo "fuzz: error: fuzz/ has no target" >&2; exit 1; }
# The coverage instrumentation needs no sanitizer, and without one the stable compiler does. Decoders are safe Rust:
# what a sanitizer would find there, the checks of the language find.
export RUSTC_BOOTSTRAP=1
for target in "${targets[@]}"; do
    echo "fuzz: $target for $seconds s"
    log="$(mktemp)"
    corpora=("fuzz/corpus/$target")
    mkdir -p "${corpora[0]}"
    [[ ! -d "fuzz/seeds/$target" ]] || corpora+=("fuzz/seeds/$target")
    # libFuzzer writes hundreds of lines: shown are the last ones, all of them only on failure.
    if cargo-fuzz run --sanitizer none "$target" "${corpora[@]}" -- -max_total_time="$seconds" -rss_limit_mb=2048 >"$log" 2>&1; then
        tail -n 1 "$log"
        rm -f "$log"
    else
        code=$?
        cat "$log" >&2
        rm -f "$log"
        exit "$code"
    fi
done
