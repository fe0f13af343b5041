#!/usr/bin/env bash
# Builds and runs the tests. CTest and pytest each leave a JUnit file; setup/summary.py adds them up in one line.
set -u

here=${BASH_SOURCE[0]%/*}
# Seconds of a processor. What takes less to compile is compiled before any test runs; for more, tests run beside the compiler,
# one fewer at once.
short=120
for part in key say pieces system private build test_pieces test_runners; do . "$here/$part.sh"; done

soak= base= native=() python=() names=()
while (($# > 0)); do
    case $1 in
    --soak) soak=1 ;;
    --changed)
        base=HEAD
        if git -C "$STRATA_ROOT" rev-parse --verify --quiet "${2-}^{commit}" >/dev/null 2>&1; then
            base=$2
            shift
        fi
        ;;
    -*) fail "there is no such option" "given:   $1" "allowed: --soak, --changed [BASE], NAME (see ./strata test --help)" ;;
    *) names+=("$1") ;;
    esac
    shift
done
[[ -z $base ]] || ((${#names[@]} == 0)) || fail "--changed says by itself which tests run" "given:   ${names[*]}" \
    "try:     one without the other; or is this no commit that git knows?"

bash "$STRATA_ROOT/setup/setup.sh" "$([[ -n $soak ]] && echo --all || echo --tests)" || exit # which said why
strata_key "$STRATA_ROOT" || exit
strata_find_build || fail "set-up ended well, but left no build for this machine" "looked: $STRATA_BUILDS" \
    "try:    the same command again; else ./strata clean"
strata_use_build
export STRATA_BUILD STRATA_PREFIX=$STRATA_BUILD/current PATH=$STRATA_BUILD/current/bin:$PATH
# Many tests start MPI. Without this Open MPI looks for networks that none of them uses: 0.2 s of the 0.6 s of `mpirun -n 2`.
export OMPI_MCA_pml=${OMPI_MCA_pml:-ob1}
unset PYTHONDONTWRITEBYTECODE # with it each start of Python compiles Strata's modules anew
strata_log=$STRATA_BUILD/test.log
: >"$strata_log"

get_test_pieces

# Which tests: each name is a runner, a folder, or a part of names.
patterns=
for name in ${names[@]+"${names[@]}"}; do
    case $name in
    native) native+=("$STRATA_BUILD/cmake") ;;
    python) python+=("$STRATA_ROOT/tests") ;;
    *)
        if [[ -d $STRATA_ROOT/tests/$name ]]; then
            [[ ! -f $STRATA_ROOT/tests/$name/CMakeLists.txt ]] || native+=("$STRATA_BUILD/cmake/tests/$name")
            python+=("$STRATA_ROOT/tests/$name")
        else
            patterns+=${patterns:+|}$name
        fi
        ;;
    esac
done
if ((${#names[@]} == 0)) && [[ -z $base ]]; then
    native=("$STRATA_BUILD/cmake")
    python=("$STRATA_ROOT/tests")
fi

# What the tests start carries the name of this folder, so that sweep.py ends all of it when this process ends, also by SIGKILL.
results=$(mktemp -d) || fail "no folder for the results can be made" "given: TMPDIR=${TMPDIR:-/tmp}"
setsid "$STRATA_PYTHON" "$here/sweep.py" "$$" "$results" </dev/null &

# What says how far all of it is. It opens the FIFO for writing too, so that it ends with this process and not with the first filter.
records=$STRATA_ROOT/tests/seconds.tsv:$STRATA_BUILD/test-seconds progress=$results/progress
mkfifo "$progress" || fail "no FIFO can be made" "given: $results"
"$STRATA_PYTHON" "$here/progress.py" --reads events --while "$$" 0<>"$progress" &
shows=$!
export STRATA_TEST_RUN=$results
failed=0 early= compiling=
trap 'exit 130' INT # not only the runner that the key ends

# How many tests at once: half as many more as there are processors, since no test judges a time and some wait (for programs to
# start, to be killed, to have been watched for long enough). Processes that wait for each other keep processors busy where they
# are many: on two cores CTest's took 308 s of a processor one by one, 372 s three at once, and 394 s four at once, no sooner. In a
# campaign none waits.
processors=$(nproc)
at_once=$processors
[[ -n $soak ]] || at_once=$((processors + (processors + 1) / 2))

count=0
cd "$STRATA_ROOT" || fail "the checkout cannot be entered" "given: $STRATA_ROOT"
compile_tests() { STRATA_PROGRESS=$progress compile all ${soak:+soak_programs}; }
much_to_compile() {
    expect all # which also finds how fast this compiler is, before tests run beside it
    [[ -s $STRATA_BUILD/expected-seconds ]] && ((REPLY >= short))
}
if [[ -n $patterns$base ]] || ((${#native[@]} > 0)); then
    say "building the tests (log: $strata_log)"
    strata_own_lock
    exec 8>>"$STRATA_BUILDS/lock"
    flock 8
    configure() { :; }
    # Again, since tests' own pieces have come: the other MPI.
    logged cmake "$STRATA_BUILD/cmake" || fail "the tests cannot be configured"
    if [[ -z $soak ]] && ((${#python[@]} > 0)) && much_to_compile; then
        if ((${#names[@]} == 0)); then
            coming "native tests"
            coming "last tests in Python" "$STRATA_ROOT/tests/late.txt"
        fi
        # At low priority, and without the lock for what the tests start.
        (renice -n 10 -p "$BASHPID" >/dev/null && compile_tests) &
        compiling=$!
        run_early "${python[@]}" 8>&-
        wait "$compiling" || fail "the tests do not compile"
        compiling=
    else
        compile_tests || fail "the tests do not compile"
    fi
    exec 8>&-
fi

if [[ -n $base ]]; then
    "$STRATA_PYTHON" "$here/changed.py" "$base" "$STRATA_BUILD/cmake" >"$results/selected" || exit # which said why
    mapfile -d '' -t selected <"$results/selected"
    if [[ -z ${selected[*]} ]]; then
        say "no test can tell the difference"
        in_all
        exit 0
    fi
    [[ -z ${selected[0]} ]] || run_native "$STRATA_BUILD/cmake" -R "${selected[0]}"
    ((${#selected[@]} == 1)) || run_python "" "${selected[@]:1}"
fi
for folder in ${native[@]+"${native[@]}"}; do run_native "$folder"; done
[[ -z $patterns ]] || run_native "$STRATA_BUILD/cmake" -R "$patterns"
((${#python[@]} == 0)) || run_python "" "${python[@]}"
[[ -z $patterns ]] || run_python "${patterns//|/ or }" "$STRATA_ROOT/tests"

echo end 1<>"$progress"
wait "$shows"
"$STRATA_PYTHON" "$here/seconds.py" keep "$STRATA_BUILD/test-seconds" "$results"/*
"$STRATA_PYTHON" "$here/summary.py" --seconds "$SECONDS" "$results"/* || failed=1
exit $failed
