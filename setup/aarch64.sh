#!/usr/bin/env bash
# setup/aarch64.sh FOLDER: cross-compiles the core for 64-bit Arm and passes its unit tests under user-mode QEMU. The arm64
# libraries are unpacked into FOLDER by a private copy of apt's state: the system's own packages are not touched by them.
set -eu
trap 'printf "strata: error: setup/aarch64.sh ended at line %d: %s\n" "$LINENO" "$BASH_COMMAND" >&2' ERR

root=$(cd -P -- "${BASH_SOURCE[0]%/*}/.." && pwd)
folder=$(mkdir -p -- "$1" && cd -P -- "$1" && pwd)
export STRATA_SYSROOT=$folder/sysroot

if ! command -v aarch64-linux-gnu-g++ qemu-aarch64-static >/dev/null; then
    packages=(g++-aarch64-linux-gnu qemu-user-static)
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" ||
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"; }
fi

if [[ ! -d $STRATA_SYSROOT ]]; then
    mkdir -p "$folder"/apt/{state/lists/partial,cache/archives/partial}
    : >"$folder/apt/status"
    apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$folder/apt/state"
        -o Dir::State::status="$folder/apt/status" -o Dir::Cache="$folder/apt/cache" -o APT::Sandbox::User=root)
    "${apt[@]}" update
    "${apt[@]}" install -y --download-only --no-install-recommends libhwloc-dev libfmt-dev catch2 libstdc++6
    rm -rf "$STRATA_SYSROOT.new"
    for package in "$folder"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$STRATA_SYSROOT.new"; done
    mv "$STRATA_SYSROOT.new" "$STRATA_SYSROOT"
fi

cmake --preset aarch64 -S "$root" -B "$folder/build"
cmake --build "$folder/build" -j "$(nproc)"
ctest --test-dir "$folder/build" -LE soak --output-on-failure --no-tests=error --timeout 300
