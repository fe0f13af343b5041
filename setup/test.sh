#!/usr/bin/env bash
# Builds and runs the tests. CTest and pytest each leave a JUnit file; setup/summary.py adds them up in one line.
set -u

here=${BASH_SOURCE[0]%/*}
for part in key say pieces system build test_pieces; do . "$here/$part.sh"; done

soak= native=() python=() names=()
for argument; do
    case $argument in
    --soak) soak=1 ;;
    -*) fail "there is no such option" "given:   $argument" "allowed: --soak, NAME (see ./strata test --help)" ;;
    *) names+=("$argument") ;;
    esac
done

bash "$STRATA_ROOT/setup/setup.sh" --all || exit # which said why
strata_key "$STRATA_ROOT" || exit
strata_find_build || fail "set-up ended well, but left no build for this machine" "looked: $STRATA_BUILDS" \
    "try:    the same command again; else ./strata clean"
strata_use_build
export STRATA_BUILD STRATA_PREFIX=$STRATA_BUILD/current PATH=$STRATA_BUILD/current/bin:$PATH
strata_log=$STRATA_BUILD/test.log
: >"$strata_log"

get_test_pieces

# Which tests: each name is a runner, a folder, or a part of names.
patterns=
for name in ${names[@]+"${names[@]}"}; do
    case $name in
    native) native+=("$STRATA_BUILD/cmake") ;;
    python) python+=("$STRATA_ROOT/tests" "") ;;
    *)
        if [[ -d $STRATA_ROOT/tests/$name ]]; then
            [[ ! -f $STRATA_ROOT/tests/$name/CMakeLists.txt ]] || native+=("$STRATA_BUILD/cmake/tests/$name")
            python+=("$STRATA_ROOT/tests/$name" "")
        else
            patterns+=${patterns:+|}$name
        fi
        ;;
    esac
done
if ((${#names[@]} == 0)); then
    native=("$STRATA_BUILD/cmake")
    python=("$STRATA_ROOT/tests" "")
fi

results=$(mktemp -d) || fail "no folder for the results can be made" "given: TMPDIR=${TMPDIR:-/tmp}"
trap 'rm -rf -- "$results"' EXIT
failed=0

if [[ -n $patterns ]] || ((${#native[@]} > 0)); then
    say "building the tests (log: $strata_log)"
    exec 8>>"$STRATA_BUILDS/lock"
    flock 8
    configure() { :; }
    # Again, since tests' own pieces have come: the other MPI.
    logged cmake "$STRATA_BUILD/cmake" || fail "the tests cannot be configured"
    compile all || fail "the tests do not compile"
    exec 8>&-
fi

# run_native FOLDER [OPTION...]
run_native() {
    local folder=$1
    shift
    [[ -n $soak ]] || set -- "$@" -LE soak
    ctest --test-dir "$folder" --output-on-failure --no-tests=ignore -j "$(nproc)" \
        --output-junit "$results/native-$((++count)).xml" "$@" > >(grep -vE '^ +Start |   Passed  ') || failed=1
}

# run_python FOLDER EXPRESSION
run_python() {
    local options=(-q --rootdir "$STRATA_ROOT" --junitxml "$results/python-$((++count)).xml")
    [[ -n $soak ]] || options+=(-m "not soak")
    [[ -z $2 ]] || options+=(-k "$2")
    "$STRATA_PYTHON" -m pytest "${options[@]}" "$1"
    case $? in
    0 | 5) ;; # 5: no test in this selection
    *) failed=1 ;;
    esac
}

count=0
cd "$STRATA_ROOT" || fail "the checkout cannot be entered" "given: $STRATA_ROOT"
for folder in ${native[@]+"${native[@]}"}; do run_native "$folder"; done
[[ -z $patterns ]] || run_native "$STRATA_BUILD/cmake" -R "$patterns"
for ((i = 0; i < ${#python[@]}; i += 2)); do run_python "${python[i]}" "${python[i + 1]}"; done
[[ -z $patterns ]] || run_python "$STRATA_ROOT/tests" "${patterns//|/ or }"

"$STRATA_PYTHON" "$here/summary.py" "$results"/*.xml || failed=1
exit $failed
