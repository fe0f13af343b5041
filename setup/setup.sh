#!/usr/bin/env bash
# setup.sh [--again] [--all | --tests | --part NAME | --from FOLDER | --download FOLDER] [--install PREFIX]: makes Strata ready on this machine: pieces, Python environment, native build. Does only
# what is not done yet, so that it may be killed anywhere and started again. One process at a time: the others wait, and then find
# it done. --again asks for missing pieces again, --part for a part of the build beside those that are there, --all for all parts, --tests for those that tests need.
# --download and --from are for machines without a network (offline.sh), --install is for all users of a machine (install.sh).
set -u

here=${BASH_SOURCE[0]%/*}
for part in key say own_folders pieces parts system modules private venv offline build install module_files; do . "$here/$part.sh"; done
umask "$( ((EUID == 0)) && echo go-w || echo o-w)" # a build is code
restore_outer_environment
strata_modules_elsewhere
strata_key "$here/.." || exit # which said why

mkdir -p "$STRATA_BUILDS" 2>/dev/null && [[ -w $STRATA_BUILDS ]] ||
    fail "builds cannot be written" "given: $STRATA_BUILDS" "try:   export STRATA_BUILDS=FOLDER, one that you may write"

# Locked with flock, which Linux passes to the server on NFS and which ends with the last process that holds it: also a
# compiler that survives its killed set-up keeps the next one out of its folder until it is done.
strata_own_lock
exec 9>>"$STRATA_BUILDS/lock"
if ! flock -n 9; then
    say "another process is building, waiting"
    flock 9 || fail "the lock $STRATA_BUILDS/lock does not work here" "try: export STRATA_BUILDS=FOLDER, one on a local disk"
fi

again= asked=() download_folder= prefix=
read_parts
while (($# > 0)); do
    case $1 in
    --again) again=1 ;;
    --all) asked=("${part_names[@]}") ;;
    --tests) for_tests ;;
    --part) asked+=("${2:?a part of setup/parts.csv}") && shift ;;
    --download) download_folder=${2:?a folder} && shift ;;
    --from)
        asked=("${part_names[@]}") # whatever is asked for later, nothing can be fetched for it
        use_downloads "${2:?a folder}"
        shift
        ;;
    --install)
        asked=("${part_names[@]}") # users can build none
        choose_prefix "${2:?a folder}"
        shift
        ;;
    *) fail "set-up has no such option" "given:   $1" "allowed: --all, --tests, --part NAME, --download FOLDER, --from FOLDER, --install PREFIX" ;;
    esac
    shift
done
if [[ -n $download_folder ]]; then
    strata_log=$STRATA_BUILDS/download-${HOSTNAME:-host}.log
    date >"$strata_log"
    read_pieces
    parts=("${part_names[@]}") provided=
    download "$download_folder"
    exit
fi
if strata_find_build && ! strata_is_stale && [[ -z $again ]] && has_parts "${asked[@]}"; then exit 0; fi

strata_log=$STRATA_BUILDS/setup-${HOSTNAME:-host}.log
date >"$strata_log"
provided=
read_pieces

# The folder of this key; a former try may have left it half done. `further` are the parts that it lacks.
choose_build() {
    local identity part
    identity=$(printf '%s' "$strata_key" | cksum)
    STRATA_BUILD=$STRATA_BUILDS/$HOSTTYPE-${STRATA_PRESET:-native}-${identity%% *}
    first= further=()
    [[ -f $STRATA_BUILD/key ]] || first=1
    choose_parts "${asked[@]}"
    for part in "${parts[@]}"; do has_part "$part" || further+=("$part"); done
}
choose_build
# Pieces that this build was never offered, as Strata asks for more than when it was made.
unknown_pieces() {
    local piece known
    known=$(cat -- "$STRATA_BUILD/pieces" 2>/dev/null)
    for piece; do [[ $'\n'$known$'\n' == *$'\n'$piece$'\n'* ]] || printf '%s\n' "$piece"; done
}

# How long the compilers are at work on these parts.
build_seconds() {
    local part sum=0
    for part; do sum=$((sum + part_seconds[$part])); done
    slowness
    echo $((sum * REPLY / 100 / $(jobs) + 5))
}
if [[ -n $first ]]; then
    say "setting up for this machine, once (log: $strata_log)"
else
    ((${#further[@]} == 0)) || slowness # once, not in each subshell
    for part in "${further[@]}"; do
        say "building a part that is needed for the first time: $part, ${part_about[$part]}; about $(build_seconds "$part") s"
    done
    ((${#further[@]} != 1)) || say "(./strata setup --all builds all parts at once)"
fi

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
unfinished=
before=$(mktemp) && env -0 >"$before" && trap 'rm -f -- "$before"; [[ -z $unfinished ]] || rm -rf -- "$unfinished"' EXIT
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

# Python: beside the compilers, unless the native build needs what it brings.
find_python || fail "no Python was found that can make an environment" "$(python_trouble)"
base_python=$REPLY
venv=$(venv_folder run)
groups=(project)
! contains "${parts[*]}" data || groups+=(data)
! contains "${parts[*]}" python || groups+=(python)
! contains "${parts[*]}" develop || groups+=(dev)
wheels_log=${strata_log%.log}-wheels.log
[[ -z $first ]] || step "Python environment: NumPy, Matplotlib, OpenBLAS; beside the compilers" 30
(
    strata_log=$wheels_log SECONDS=0
    : >"$strata_log"
    make_environment "$venv" "${groups[@]}" && printf '%d\n' "$SECONDS" >"$STRATA_BUILD/wheels-seconds"
) &
wheels=$!
environment_is_made() {
    [[ -n $wheels ]] || return 0
    wait "$wheels" || {
        strata_log=$wheels_log
        fail "the Python environment could not be made" "what pip says is above" \
            "try: a mirror or proxy is set with PIP_INDEX_URL or PIP_PROXY; then the same command again"
    }
    wheels=
}
! contains "${parts[*]}" python || environment_is_made
ln -sfn -- "$venv" "$STRATA_BUILD/venv"

# Native build
if [[ -n $first ]]; then
    what=${part_about[first]}
    ((${#parts[@]} == 1)) || what="the parts ${parts[*]}"
    slowness
    step "native build: $what" "$(build_seconds "${parts[@]}")"
elif ((${#further[@]} == 0)); then
    say "sources changed: rebuilding"
fi
build_product || fail "the native build failed" "try: ./strata clean, then again; or ./strata doctor"

environment_changes "$before" >"$STRATA_BUILD/environment"
{
    cat -- "$STRATA_BUILD/pieces" 2>/dev/null
    for piece in "${piece_names[@]}"; do ! is_asked_for "$piece" || printf '%s\n' "$piece"; done
} | sort -u >"$STRATA_BUILD/pieces.new" && mv -- "$STRATA_BUILD/pieces.new" "$STRATA_BUILD/pieces"
printf '%s\n' "$strata_key" >"$STRATA_BUILD/key.new" && mv -- "$STRATA_BUILD/key.new" "$STRATA_BUILD/key" ||
    fail "the build cannot be marked as complete" "given: $STRATA_BUILD/key"
[[ -z $first$again && ${#further[@]} == 0 ]] ||
    say "ready after $(minutes "$SECONDS"); downloads: packages $(minutes "$(apt_seconds)"), wheels at most $(minutes "$(cat "$STRATA_BUILD/wheels-seconds")")"
[[ -z $prefix ]] || install_for_all
