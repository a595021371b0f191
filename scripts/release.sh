#!/usr/bin/env bash
# Makes the files of a release in one folder: wheels, Debian packages, a tarball, the bill of
# materials and the checksums of all of them. It publishes nothing.
#
#   scripts/release.sh VERSION [--out FOLDER] [--target TRIPLE] [--glibc VERSION]
#   scripts/release.sh VERSION [--out FOLDER] --from FOLDER [--compression gzip]
#
# VERSION must be that of the sources. FOLDER of --out (target/dist-VERSION) must be new or empty.
# Without --from, the script builds everything with the profile `release`, from a repository without
# changes: for TRIPLE, one of Cargo's targets, and for the C library VERSION and newer ones, for
# which zig compiles C and links (scripts/requirements-release.txt). With --from, it packs the
# programs in that folder, which are built already: the command, the containers with
# libferos_shared.so, librmw_feros.so, and the wheel of the Python package.
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
while (($# > 0)); do
    case "$1" in
        --out) out="${2:?--out needs a folder}"; shift 2 ;;
        --from) from="${2:?--from needs a folder}"; shift 2 ;;
        --compression) compression="${2:?--compression needs xz or gzip}"; shift 2 ;;
        --target) triple="${2:?--target needs a triple, such as aarch64-unknown-linux-gnu}"; shift 2 ;;
        --glibc) glibc="${2:?--glibc needs a version, such as 2.28}"; shift 2 ;;
        -h | --help) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 0 ;;
        -*) fail "unknown option $1 (known: --out, --from, --compression, --target, --glibc)" ;;
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
    ! grep -q "^## $version (unreleased)" CHANGELOG.md ||
        fail "CHANGELOG.md says that $version is unreleased. Write the date there (RELEASING.md)."
    say "building the programs"
    build=(cargo build)
    wheel=(scripts/build_wheel.sh --out "$out")
    if [[ -n "$triple$glibc" ]]; then
        triple="${triple:-$(rustc -vV | sed -n 's/^host: //p')}"
        [[ -z $glibc ]] || build=(cargo zigbuild)
        build+=(--target "$triple${glibc:+.$glibc}")
        wheel+=(--target "$triple" ${glibc:+--glibc "$glibc"})
    fi
    "${build[@]}" --locked --release -p feros-cli --bin feros
    # The system's compiler links these. Zig links a second unwinder beside that of Rust's shared
    # standard library, so containers could not catch panics. Zig has no libstdc++, which lays out
    # messages in C++. These programs therefore need the C library of this system.
    system_build=(cargo build ${triple:+--target "$triple"} --locked --release)
    "${system_build[@]}" -p feros-container --bins
    "${system_build[@]}" -p feros-rmw --lib
    from="${CARGO_TARGET_DIR:-target}/${triple:+$triple/}release"
    commit="$(git rev-parse HEAD)"
    scripts/release_programs.py run "$from/feros" --version | grep -qx "commit: $commit" || fail "$from/feros was not built from" \
        "the commit $commit. Remove it, and run this again."
    say "building the wheels of the Python package"
    "${wheel[@]}"
    if command -v python3.10 >/dev/null; then
        "${wheel[@]}" --python python3.10
    else
        say "there is no python3.10, so the wheel for it is left out"
    fi
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
scripts/bill_of_materials.py "$out/feros-$version.cdx.json"
(cd "$out" && LC_ALL=C sha256sum -- * >SHA256SUMS)
say "these files are in $out:"
cat "$out/SHA256SUMS"
