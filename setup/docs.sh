#!/usr/bin/env bash
# Builds the documentation site in an environment of its own: nobody needs MkDocs to measure.
set -u
export NO_MKDOCS_2_WARNING=1

here=${BASH_SOURCE[0]%/*}
for part in key say pieces private venv; do . "$here/$part.sh"; done
strata_key "$here/.." || exit # which said why
mkdir -p "$STRATA_BUILDS" && [[ -w $STRATA_BUILDS ]] ||
    fail "builds cannot be written" "given: $STRATA_BUILDS" "try:   export STRATA_BUILDS=FOLDER, one that you may write"
strata_own_lock
exec 9>>"$STRATA_BUILDS/lock"
flock 9
strata_log=$STRATA_BUILDS/docs.log
: >"$strata_log"

find_python || fail "no Python 3.11 or newer that can make an environment was found" "$(python_trouble)"
base_python=$REPLY
venv=$(venv_folder docs)
[[ -f $venv/complete ]] || say "setting up MkDocs Material ... about 20 s"
make_environment "$venv" docs || fail "MkDocs could not be installed"
exec 9>&-

case ${1-} in
'')
    "$venv/bin/mkdocs" build --strict --quiet -f "$STRATA_ROOT/mkdocs.yml" || exit # which said why
    say "the site is site/index.html; to read it: xdg-open $STRATA_ROOT/site/index.html, or any browser (no network is needed)"
    in_all
    ;;
--serve) exec "$venv/bin/mkdocs" serve -f "$STRATA_ROOT/mkdocs.yml" ;;
*) fail "there is no such option" "given:   $1" "allowed: --serve" ;;
esac
