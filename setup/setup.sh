#!/usr/bin/env bash
# Makes Strata ready on this machine: pieces, Python environment, native build. Does only what is not done yet, so that it may
# be killed anywhere and started again. One process at a time: the others wait, and then find it done.
set -u

here=${BASH_SOURCE[0]%/*}
for part in key say pieces system modules private venv build; do . "$here/$part.sh"; done
restore_outer_environment
strata_key "$here/.." || exit # which said why

mkdir -p "$STRATA_BUILDS" 2>/dev/null && [[ -w $STRATA_BUILDS ]] ||
    fail "builds cannot be written" "given: $STRATA_BUILDS" "try:   export STRATA_BUILDS=FOLDER, one that you may write"

# Locked with flock, which Linux passes to the server on NFS and which ends with the last process that holds it: also a
# compiler that survives its killed set-up keeps the next one out of its folder until it is done.
exec 9>>"$STRATA_BUILDS/lock"
if ! flock -n 9; then
    say "another process is building, waiting"
    flock 9 || fail "the lock $STRATA_BUILDS/lock does not work here" "try: export STRATA_BUILDS=FOLDER, one on a local disk"
fi
if strata_find_build && ! strata_is_stale && [[ ${1-} != --again ]]; then exit 0; fi

strata_log=$STRATA_BUILDS/setup-${HOSTNAME:-host}.log
date >"$strata_log"
provided=
read_pieces

# The folder of this key; a former try may have left it half done.
choose_build() {
    local identity
    identity=$(printf '%s' "$strata_key" | cksum)
    STRATA_BUILD=$STRATA_BUILDS/$HOSTTYPE-${STRATA_PRESET:-native}-${identity%% *}
    first=
    [[ -f $STRATA_BUILD/key ]] || first=1
}
choose_build
# Pieces that this build was never offered, as Strata asks for more than when it was made.
unknown_pieces() {
    local piece known
    known=$(cat -- "$STRATA_BUILD/pieces" 2>/dev/null)
    for piece; do [[ $'\n'$known$'\n' == *$'\n'$piece$'\n'* ]] || printf '%s\n' "$piece"; done
}
[[ -z $first ]] || say "setting up for this machine, once (log: $strata_log)"

# Pieces: from PATH; else from apt where it may; else from environment modules; else as wheels in a private prefix.
find_pieces
[[ -z $first ]] || step "compiler, libraries, MPI${missing[*]:+: to get ${missing[*]}}" $((${#missing[@]} > 0 ? 40 : 1))
mapfile -t unknown < <(unknown_pieces "${missing[@]}")
if ((${#unknown[@]} > 0)) && may_use_apt; then
    system_packages "${missing[@]}"
    hash -r
    strata_key "$here/.." # with what apt brought, as the next start will see it
    choose_build
    find_pieces
fi

mkdir -p "$STRATA_BUILD" || fail "the folder of the build cannot be made" "given: $STRATA_BUILD"
before=$(mktemp) && env -0 >"$before" && trap 'rm -f -- "$before"' EXIT
if ((${#missing[@]} > 0)); then
    load_modules "${missing[@]}"
    find_pieces
fi
if ((${#missing[@]} > 0)); then
    private_prefix "$STRATA_BUILD/private" "${missing[@]}" || say "the private prefix could not be filled (see $strata_log)"
    find_pieces
fi

required=()
for piece in "${missing[@]}"; do
    if [[ ${piece_need[$piece]} == required ]]; then
        required+=("$piece")
    elif contains "${unknown[*]}" "$piece"; then
        say "without $piece: ${piece_without[$piece]}. To get it:"
        commands_for "$piece" | sed 's/^/    /' >&2
    fi
done
if ((${#required[@]} > 0)); then
    mapfile -t commands < <(commands_for "${required[@]}")
    printf 'strata: error: missing and needed: %s\n' "${required[*]}" >&2
    for piece in "${required[@]}"; do printf '  %-8s %s\n' "$piece" "${piece_without[$piece]}" >&2; done
    ! contains "${required[*]}" python || left_out python || printf '  %-8s %s\n' python "$(python_trouble)" >&2
    printf '  %s\n' "${commands[@]}" >&2
    exit 1
fi

# Python
find_python || fail "no Python was found that can make an environment" "$(python_trouble)"
base_python=$REPLY
venv=$(venv_folder run)
[[ -f $venv/complete ]] && seconds=1 || seconds=30
[[ -z $first && $seconds == 1 ]] || step "Python environment: NumPy, Matplotlib, OpenBLAS" $seconds
make_environment "$venv" project dev || fail "the Python environment could not be made" \
    "try: look at pip's last lines below; a mirror or proxy is set with PIP_INDEX_URL or PIP_PROXY"
ln -sfn -- "$venv" "$STRATA_BUILD/venv"

# Native build
if [[ -n $first ]]; then step "native build" $((1400 / $(jobs))); else say "sources changed: rebuilding"; fi
build_product || fail "the native build failed" "try: ./strata clean, then again; or ./strata doctor"

environment_changes "$before" >"$STRATA_BUILD/environment"
printf '%s\n' "${piece_names[@]}" >"$STRATA_BUILD/pieces"
printf '%s\n' "$strata_key" >"$STRATA_BUILD/key.new" && mv -- "$STRATA_BUILD/key.new" "$STRATA_BUILD/key" ||
    fail "the build cannot be marked as complete" "given: $STRATA_BUILD/key"
[[ -z $first ]] || say "ready"
