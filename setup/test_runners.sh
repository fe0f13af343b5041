# CTest and pytest, each leaving JUnit files in $results, for summary.py; $failed is 1 where tests failed. $soak: a campaign, which
# has the machine to itself; $at_once: how many tests at once; $count numbers the files. A test that fails runs once more, by
# itself, as the only one (again-*.xml). progress.py shows how far they are, with the seconds that $records have of each test
# (files with : between); $progress is where it says so to the process that shows it, or empty; $compiling is the process that
# compiles meanwhile, or empty.

runners=${BASH_SOURCE[0]%/*}

# shown PART READS HOW_MANY [OPTION...]: the filter behind a runner. Its own exit code means nothing.
shown() {
    "$STRATA_PYTHON" "$runners/progress.py" --part "$1" --reads "$2" --at-once "$3" ${progress:+--to "$progress"} "${@:4}"
}

# coming PART WORD...: how long tests that come later take, by the recorded seconds that `seconds.py coming` gives for the words: the
# time left counts them from the beginning.
coming() {
    local seconds
    seconds=$("$STRATA_PYTHON" "$runners/seconds.py" coming "$STRATA_ROOT/tests/seconds.tsv" "${@:2}") || return 0
    printf '%s\t-1\t0\t0\t0\t%d\n' "$1" "$((seconds / at_once))" 1<>"$progress"
}

# run_native FOLDER [OPTION...]
run_native() {
    local folder=$1
    shift
    [[ -n $soak ]] || set -- "$@" -LE soak
    local list=$results/native-$((++count)).json known
    IFS=: read -r -a known <<<"${records:-}"
    ctest --test-dir "$folder" --show-only=json-v1 "$@" >"$list"
    "$STRATA_PYTHON" "$runners/seconds.py" native "$list" ${known[@]+"${known[@]}"} >"$results/native-$count.seconds"
    ctest --test-dir "$folder" --output-on-failure --no-tests=ignore -j "$at_once" --output-junit "$results/native-$count.xml" "$@" |
        shown "native tests" ctest "$at_once" --seconds "$results/native-$count.seconds"
    ((PIPESTATUS[0])) || return 0
    if again "$(cat "$folder/Testing/Temporary/LastTestsFailed.log" 2>/dev/null | wc -l)"; then
        ctest --test-dir "$folder" --output-on-failure --rerun-failed --output-junit "$results/again-$count.xml" && return
    fi
    failed=1
}

# again HOW_MANY: whether tests that failed run once more, by themselves. A neighbour on this machine can make a test wait longer
# than it allows; what is broken fails again. The summary names those that pass then, so that they are mended.
again() {
    [[ -z $soak ]] && (($1 > 0 && $1 <= 5)) || return 1
    [[ -z ${compiling:-} ]] || wait "$compiling"
    say "$1 failed, and run once more by themselves"
}

# How many of them in Python. A campaign has the machine to itself.
workers() {
    if [[ -n $soak ]] || ((at_once < 2)); then echo 0; else echo $((at_once < 8 ? at_once : 8)); fi
}

# run_python EXPRESSION PATH... Those that need a quiet machine come when the others have ended. $early: those that need no more
# than the product have been tried before (run_early).
run_python() {
    local which="not soak${early:+ and late}"
    if (($(workers) == 0)); then
        run_pytest "${soak:+soak or }$which" 0 "$@"
    else
        run_pytest "$which and not alone" "$(workers)" "$@"
        run_pytest "not soak and alone" 0 "$@"
    fi
}

# run_early PATH... While the tests' programs are compiled: where a test waits, the compiler goes on.
run_early() {
    run_pytest "not soak and not alone and not late" "$(at_once=${processors:-$at_once} && workers)" "" "$@"
    early=1
}

# run_pytest MARKS WORKERS EXPRESSION PATH...
run_pytest() {
    local options=(-q --rootdir "$STRATA_ROOT" --junitxml "$results/python-$((++count)).xml" --durations 12 --durations-min 5)
    options+=(-m "$1" -n "$2")
    [[ -z $3 ]] || options+=(-k "$3")
    [[ ! -t 1 ]] || options+=(--color yes)
    local cache=$results/pytest-$count
    STRATA_TEST_MARKS=${records:-} "$STRATA_PYTHON" -m pytest "${options[@]}" -o "cache_dir=$cache" "${@:4}" |
        shown "${early:+last }tests in Python" marks "$(($2 > 1 ? $2 : 1))"
    case ${PIPESTATUS[0]} in
    0 | 5) return ;; # 5: no test in this selection
    1)
        if again "$(cat "$cache/v/cache/lastfailed" 2>/dev/null | grep -c '": true')"; then
            "$STRATA_PYTHON" -m pytest -q --rootdir "$STRATA_ROOT" --junitxml "$results/again-$count.xml" -n 0 \
                -o "cache_dir=$cache" --last-failed --last-failed-no-failures none "${@:4}" && return
        fi
        ;;
    esac
    failed=1
}
