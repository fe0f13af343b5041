#!/usr/bin/env bash
# Starts the doctor with whatever Python there is: it is for when set-up did not work.
set -u
for part in key say; do . "$STRATA_ROOT/setup/$part.sh"; done
strata_key "$STRATA_ROOT" || exit # which said why
strata_modules_elsewhere
if strata_find_build; then
    strata_use_build
    export STRATA_BUILD STRATA_FRONT=$STRATA_BUILD/current/bin/strata
fi
strata_program ${STRATA_PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python || {
    printf 'strata: error: no Python was found\n  try: sudo apt-get install python3 python3-venv\n' >&2
    exit 1
}
"$REPLY" "$STRATA_ROOT/python/strata/doctor.py" "$@"
status=$?
in_all
exit $status
