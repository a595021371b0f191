#!/usr/bin/env bash
# Makes the files of a release in one folder: wheels, Debian packages, a tarball, the bill of
# materials and the checksums of all of them. It publishes nothing.
#
#   scripts/release.sh VERSION [--out FOLDER] [--target TRIPLE] [--glibc VERSION] [--trial]
#   scripts/release.sh VERSION [--out FOLDER] --from FOLDER [--compression gzip]
#   scripts/release.sh --check FOLDER
#
# VERSION must be that of the sources. FOLDER of --out (target/dist-VERSION) must be new or empty.
# Without --from, the script builds everything with the profile `release`, from a repository without
# changes: for TRIPLE, one of Cargo's targets, and for the C library VERSION and newer ones, for
# which zig compiles C and links (scripts/requirements-release.txt). With --trial, the changelog may
# call the version unreleased. With --from, it packs the programs in that folder, which are built
# already: the command, the containers with libferos_shared.so, librmw_feros.so, and the wheel of
# the Python package. With --check, it installs and uses the files of FOLDER in bare root folders of
# Debian (scripts/check_in_bare_roots.py).
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { printf 'release: error: %s\n' "$*" >&2; exit 1; }
say() { printf 'release: %s\n' "$*"; }

version=
out=
from=
compression=xz
triple=
glibc=
trial=
while (($# > 0)); do
    case "$1" in
        --out) out="${2:?--out needs a folder}"; shift 2 ;;
        --from) from="${2:?--from needs a folder}"; shift 2 ;;
        --compression) compression="${2:?--compression needs xz or gzip}"; shift 2 ;;
        --target) triple="${2:?--target needs a triple, such as aarch64-unknown-linux-gnu}"; shift 2 ;;
        --glibc) glibc="${2:?--glibc needs a version, such as 2.28}"; shift 2 ;;
        --trial) trial=1; shift ;;
        --check) exec scripts/check_in_bare_roots.py "${2:?--check needs a folder}" ;;
        -h | --help) sed -n '2,19s/^# \{0,1\}//p' "$0"; exit 0 ;;
        -*) fail "unknown option $1 (known: --out, --from, --compression, --target, --glibc, --trial, --check)" ;;
        *) [[ -z $version ]] || fail "two versions: $version and $1"; version="$1"; shift ;;
    esac
done
[[ -n $version ]] || fail "which version? Usage: scripts/release.sh VERSION"
sources="$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)"
[[ $version == "$sources" ]] || fail "the sources have the version $sources, not $version." \
    "Write the version into Cargo.toml and CHANGELOG.md first (RELEASING.md)."
grep -q "^## $version " CHANGELOG.md || fail "CHANGELOG.md has no heading for $version"
out="${out:-target/dist-$version}"
mkdir -p "$out"
[[ -z "$(ls -A "$out")" ]] || fail "$out is not empty. Remove it, or name another folder."
out="$(cd "$out" && pwd)"

if [[ -z $from ]]; then
    [[ -z "$(git status --porcelain)" ]] || fail "the repository has changes. Commit them: a" \
        "release has to be the sources of its commit."
    [[ -n $trial ]] || ! grep -q "^## $version (unreleased)" CHANGELOG.md ||
        fail "CHANGELOG.md says that $version is unreleased. Write the date there (RELEASING.md)," \
            "or add --trial."
    host="$(rustc -vV | sed -n 's/^host: //p')"
    scripts/release_programs.py check "${triple:-$host}" ${glibc:+zig}
    # The wheels contain times too: those of the commit, as in all other files.
    SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)"
    export SOURCE_DATE_EPOCH
    say "building the programs"
    target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
    [[ -z $glibc ]] || triple="${triple:-$host}"
    # The system's compiler links these. Zig links a second unwinder beside that of Rust's shared
    # standard library, so containers could not catch panics. Zig has no libstdc++, which lays out
    # messages in C++. These programs therefore need the C library of this system.
    build=(cargo build ${triple:+--target "$triple"} --locked --release)
    "${build[@]}" -p feros-container --bins
    "${build[@]}" -p feros-rmw --lib
    from="$target/${triple:+$triple/}release"
    wheel=(scripts/build_wheel.sh --out "$out" ${triple:+--target "$triple"} ${glibc:+--glibc "$glibc"})
    say "building the wheels of the Python package, and the command in them"
    # What zig compiles needs a folder of its own: cargo would compile everything else again.
    for_wheels="$target${glibc:+/zig}"
    CARGO_TARGET_DIR="$for_wheels" "${wheel[@]}"
    # A version manager's python3.10 exists even if that version is not installed.
    if python3.10 -c '' 2>/dev/null; then
        CARGO_TARGET_DIR="$for_wheels" "${wheel[@]}" --python python3.10
    else
        say "there is no python3.10, so the wheel for it is left out"
    fi
    [[ -z $glibc ]] || cp "$for_wheels/$triple/release/feros" "$from/feros"
    commit="$(git rev-parse HEAD)"
    said="$(scripts/release_programs.py run "$from/feros" --version)"
    grep -qx "commit: $commit" <<<"$said" || fail "$from/feros was not built from" \
        "the commit $commit. Remove it, and run this again."
else
    from="$(cd "$from" && pwd)"
    wheels=("$from/feros-$version"-*.whl)
    [[ -f ${wheels[0]} ]] || fail "$from has no wheel feros-$version-*.whl (scripts/build_wheel.sh)"
    cp "${wheels[@]}" "$out"
fi
library="$from/librmw_feros.so"
[[ -f $library ]] || fail "there is no $library. Build it: cargo build -p feros-rmw --lib"
FEROS_RMW_LIBRARY="$library" scripts/build_rmw_wheel.sh "$out"
say "packing the programs"
scripts/debian_packages.py --programs "$from" --out "$out" --compression "$compression"
scripts/installed_files.py --programs "$from" --out "$out"
scripts/bill_of_materials.py ${triple:+--target "$triple"} "$out/feros-$version.cdx.json"
(cd "$out" && LC_ALL=C sha256sum -- * >SHA256SUMS)
say "these files are in $out:"
cat "$out/SHA256SUMS"
