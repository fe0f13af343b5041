#!/usr/bin/env bash
# part.sh PART [WORD...]: builds a part of Strata that is asked for, then starts `strata WORD...` anew, which finds it. The front
# and Python become this program before they have done anything. Nothing is built where several would build at once, under a
# measurement, or where no compiler is: there a person must have built it before.
set -u

here=${BASH_SOURCE[0]%/*}
for part in key say pieces parts; do . "$here/$part.sh"; done
part=$1
shift
strata_key "$here/.." || exit # which said why

# refuse WHY: once, also where many ranks ask.
refuse() {
    ((${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${PMIX_RANK:-${SLURM_PROCID:-${STRATA_RANK:-0}}}}} == 0)) || exit 1
    fail "the part $part of Strata is not built, and $1" "try: ./strata setup --all, once and before"
}
[[ -z ${STRATA_RUN:-}${STRATA_RANK:-} ]] || refuse "nothing is built below strata launch"
[[ -z ${OMPI_COMM_WORLD_SIZE:-}${PMI_SIZE:-}${PMIX_RANK:-} && ${SLURM_STEP_NUM_TASKS:-1} == 1 ]] || refuse "nothing is built by ranks"
strata_find_build
[[ -n $strata_compiler || -s $STRATA_BUILD/environment ]] || refuse "here is no compiler"

bash "$here/setup.sh" --part "$part" </dev/null || exit # which said why
strata_key "$here/.." # as at a start
strata_find_build && has_part "$part" || fail "set-up ended well, but left no part $part" "looked: $STRATA_BUILDS" "try:    ./strata setup --all"
exec "$STRATA_ROOT/strata" "$@"
