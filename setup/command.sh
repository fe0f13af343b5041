#!/usr/bin/env bash
# The commands that are about the checkout itself: setup, test, docs, clean.
set -u

usage() {
    case $1 in
    setup) cat <<'TEXT' ;;
usage: strata setup [--all | --tests | --download FOLDER | --from FOLDER] [--install PREFIX]

Sets up for this machine now instead of at first use, and checks again what is missing.
  --all                                      all parts of the build, not only those that were needed so far: before
                                             jobs on nodes without a compiler or a network, for example
  --tests                                    the parts that ./strata test needs
  --download FOLDER                          only fetches what --from needs: for a machine without a network
  --from FOLDER                              all parts, with what --download has fetched and with nothing from a network
  --install PREFIX                           all parts, and then a tree of its own at PREFIX for all users of a machine, with a
                                             Python environment and a module file: ./strata setup --install /opt/strata/1.0
  STRATA_FROM_SHA256=...                     with --from: the digest that --download said at its end
  STRATA_PRESET=portable ./strata setup      one build for all processors of this architecture
  STRATA_NO_APT=1 ./strata setup             no system packages
  STRATA_WITHOUT="mpi fftw" ./strata setup   as if these pieces did not exist
TEXT
    test) cat <<'TEXT' ;;
usage: strata test [--soak] [--changed [BASE] | NAME ...]

Builds what the tests need and runs them: CTest for the native code, pytest for the rest. Ends with the time in all, why tests
were skipped, which failed and passed when run again, and one line of counts; non-zero when any failed.
  --soak          the long campaigns too
  --changed       what a change can affect: since the commit BASE, or since the last one
  NAME            native, python, a folder of tests/, or a part of tests' names

  ./strata test                   all but the campaigns
  ./strata test core              the tests in tests/core
  ./strata test --changed main    what the work on a branch can affect
  ./strata test launch journal    the folder tests/launch, and every test with journal in its name
TEXT
    docs) cat <<'TEXT' ;;
usage: strata docs [--serve]

Builds the documentation site into site/, or serves it while it is written.
TEXT
    clean) cat <<'TEXT' ;;
usage: strata clean

Removes every build and Python environment of this checkout (not the results). The next command sets up again.
TEXT
    esac
}

command=$1
shift
case ${1-} in
-h | --help)
    usage "$command"
    exit
    ;;
esac

case $command in
setup) exec bash "$STRATA_ROOT/setup/setup.sh" --again "$@" ;;
test) exec bash "$STRATA_ROOT/setup/test.sh" "$@" ;;
docs) exec bash "$STRATA_ROOT/setup/docs.sh" "$@" ;;
clean)
    . "$STRATA_ROOT/setup/key.sh"
    . "$STRATA_ROOT/setup/say.sh"
    strata_key "$STRATA_ROOT" || exit # which said why
    mkdir -p "$STRATA_BUILDS" && [[ -w $STRATA_BUILDS ]] || fail "builds cannot be removed" "given: $STRATA_BUILDS, which you may not write"
    strata_own_lock
    exec 9>>"$STRATA_BUILDS/lock"
    flock 9 || fail "the lock $STRATA_BUILDS/lock does not work here" "try: rm -r $STRATA_BUILDS when nobody uses it"
    find "$STRATA_BUILDS" -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf -- {} + ||
        fail "not everything could be removed" "given: $STRATA_BUILDS"
    in_all
    ;;
esac
