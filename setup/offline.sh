# Machines without a network: `./strata setup --download FOLDER` on a machine that has one, `--from FOLDER` on the other, which has the
# same kind of processor and the same Python. FOLDER holds what pip brings: the Python environment of all parts, and wheels of the
# pieces that have one (CMake, Ninja, hwloc, fmt, Open MPI), which a private prefix takes where the system lacks them. A compiler and
# Python itself are the system's.

# kind_of_wheels: what wheels are made for.
kind_of_wheels() { "$base_python" -c 'import platform, sys; print("Python %d.%d, %s" % (*sys.version_info[:2], platform.machine()))'; }

# download FOLDER
download() {
    local folder=$1 packages='' piece lines
    find_python || fail "no Python was found that can make an environment" "$(python_trouble)"
    base_python=$REPLY
    mkdir -p "$folder/wheels" 2>/dev/null && [[ -w $folder/wheels ]] || fail "the folder cannot be written" "given: $folder"
    say "downloading what set-up needs for $(kind_of_wheels) (log: $strata_log)"
    rm -f -- "$folder/made-for"
    tools=$(mktemp -d) && trap 'rm -rf -- "$tools"' EXIT
    make_venv "$base_python" "$tools/venv" || fail "no environment could be made to download with" "given: $base_python"
    get() { logged "$tools/venv/bin/python" -m pip download --disable-pip-version-check --no-input --progress-bar off --only-binary :all: -d "$folder/wheels" "$@"; }
    for piece in "${piece_names[@]}"; do left_out "$piece" || packages+=" ${piece_wheels[$piece]}"; done
    ! contains "$packages" comma-deps-catch2 || get --no-deps --ignore-requires-python comma-deps-catch2 || true # as private.sh has it
    mapfile -t lines < <(requirements project data python dev)
    get pip "${lines[@]}" && get ${packages/comma-deps-catch2/} ||
        fail "not everything could be downloaded" "what pip says is above" "try: a mirror or proxy is set with PIP_INDEX_URL or PIP_PROXY; then the same command again"
    kind_of_wheels >"$folder/made-for"
    say "downloaded $(du -sh "$folder/wheels" | cut -f 1) in $(minutes "$SECONDS")"
    say "there, with the same checkout: ./strata setup --from FOLDER"
}

# use_downloads FOLDER: nothing comes from a network from here on.
use_downloads() {
    local folder base_python
    folder=$(cd -P -- "$1" 2>/dev/null && pwd) && [[ -f $folder/made-for ]] ||
        fail "this is no folder of downloads" "given: $1" "try:   ./strata setup --download FOLDER on a machine with a network"
    find_python || fail "no Python was found that can make an environment" "$(python_trouble)"
    base_python=$REPLY
    [[ $(<"$folder/made-for") == "$(kind_of_wheels)" ]] ||
        fail "these downloads are for another machine" "given:   $folder, made for $(<"$folder/made-for")" "allowed: $(kind_of_wheels)" \
            "try:     STRATA_BASE_PYTHON=PYTHON names another Python, here or for --download"
    export PIP_NO_INDEX=1 "PIP_FIND_LINKS=file://${folder// /%20}/wheels" STRATA_NO_APT=1 # a space would end a name
}
