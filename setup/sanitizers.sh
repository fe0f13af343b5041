#!/usr/bin/env bash
# setup/sanitizers.sh FOLDER address|valgrind: the native tests with address and undefined-behaviour sanitizers, or under
# valgrind's memcheck, from a build of its own in FOLDER.
set -eu
trap 'printf "strata: error: setup/sanitizers.sh ended at line %d: %s\n" "$LINENO" "$BASH_COMMAND" >&2' ERR

root=$(cd -P -- "${BASH_SOURCE[0]%/*}/.." && pwd)
folder=$(mkdir -p -- "$1" && cd -P -- "$1" && pwd)
python=${STRATA_PYTHON:-python3}
launcher=$(command -v ccache || true)
options=(-S "$root" -B "$folder/build" -DSTRATA_TESTS=ON -DSTRATA_TEST_TIMEOUT=1800 -DSTRATA_BENCHMARKS=ON "-DPython_EXECUTABLE=$(command -v "$python")"
    "-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher")

case $2 in
address)
    cmake --preset debug "${options[@]}"
    cmake --build "$folder/build" -j "$(nproc)"
    # Memory that members share is given back by the system, when the last of them has ended. Whole stacks, though slower,
    # so that leaks of MPI libraries are known. One test dies by a bus error, as it is to.
    export ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0:abort_on_error=0:handle_sigbus=0
    export LSAN_OPTIONS=suppressions=$root/setup/leaks.txt:print_suppressions=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    ctest --test-dir "$folder/build" -LE soak --output-on-failure --no-tests=error -j "$(nproc)"
    ;;
valgrind)
    # For any processor of this kind: valgrind does not know every instruction of this one.
    cmake --preset portable "${options[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo
    cmake --build "$folder/build" -j "$(nproc)"
    failed=0
    while read -r program; do
        printf 'valgrind %s\n' "${program##*/}"
        # Those that start no other program and ask for no call of the kernel that an emulator lacks.
        (cd "${program%/*}" && timeout 3600 valgrind -q --error-exitcode=97 --track-origins=yes --fair-sched=yes \
            --suppressions="$root/setup/valgrind.supp" "$program" '~[native]~[.]' </dev/null) || failed=1
    done < <(find "$folder/build/tests" -name 'test_*' -type f -perm -u+x | sort)
    exit "$failed"
    ;;
*)
    printf 'strata: error: no such check\n  given: %s\n  allowed: address, valgrind\n' "$2" >&2
    exit 2
    ;;
esac
