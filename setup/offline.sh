# Machines without a network: `./strata setup --download FOLDER` on a machine that has one, `--from FOLDER` on the other, which has the
# same kind of processor and the same Python. FOLDER holds what pip brings: the Python environment of all parts, and wheels of the
# pieces that have one (CMake, Ninja, hwloc, fmt, Open MPI), which a private prefix takes where the system lacks them. A compiler and
# Python itself are the system's. It also holds a list of the SHA-256 of all that: it tells damage. Who wrote the list no list can tell: the digest of
# the list can, where it comes by another way (STRATA_FROM_SHA256).

# digests FOLDER: of what --from takes from it, in an order that does not change.
digests() { (cd -- "$1" && find made-for wheels -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum --); }

# kind_of_wheels: what wheels are made for.
kind_of_wheels() { "$base_python" -P -c 'import platform, sys; print("Python %d.%d, %s" % (*sys.version_info[:2], platform.machine()))'; }

# download FOLDER
download() {
    local folder=$1 packages='' piece lines
    find_python || fail "no Python was found that can make an environment" "$(python_trouble)"
    base_python=$REPLY
    umask go-w
    mkdir -p "$folder/wheels" 2>/dev/null && [[ -w $folder/wheels ]] || fail "the folder cannot be written" "given: $folder"
    folder=$(cd -P -- "$folder" && pwd)
    own_downloads "$folder"
    say "downloading what set-up needs for $(kind_of_wheels) (log: $strata_log)"
    rm -f -- "$folder/made-for" "$folder/SHA256SUMS"
    tools=$(mktemp -d) && trap 'rm -rf -- "$tools"' EXIT
    make_venv "$base_python" "$tools/venv" || fail "no environment could be made to download with" "given: $base_python"
    get() { logged "$tools/venv/bin/python" -P -m pip download --disable-pip-version-check --no-input --progress-bar off --only-binary :all: -d "$folder/wheels" "$@"; }
    for piece in "${piece_names[@]}"; do left_out "$piece" || packages+=" ${piece_wheels[$piece]}"; done
    ! contains "$packages" comma-deps-catch2 || get --no-deps --ignore-requires-python comma-deps-catch2 || true # as private.sh has it
    mapfile -t lines < <(requirements project data python dev)
    get pip "${lines[@]}" && get ${packages/comma-deps-catch2/} ||
        fail "not everything could be downloaded" "what pip says is above" "try: a mirror or proxy is set with PIP_INDEX_URL or PIP_PROXY; then the same command again"
    kind_of_wheels >"$folder/made-for"
    digests "$folder" >"$folder/SHA256SUMS.new" && mv -- "$folder/SHA256SUMS.new" "$folder/SHA256SUMS" ||
        fail "the list of digests cannot be written" "given: $folder/SHA256SUMS"
    say "downloaded $(du -sh "$folder/wheels" | cut -f 1) in $(minutes "$SECONDS")"
    say "the digest of its list: $(digest_of_list "$folder")"
    say "there, with the same checkout: ./strata setup --from FOLDER"
}

digest_of_list() { sha256sum <"$1/SHA256SUMS" | cut -d ' ' -f 1; }

# own_downloads FOLDER: refuses one that others can write in or replace, or that has something of theirs, or a link.
own_downloads() {
    local try="chmod -R go-w, or as root chown -R, where you know what is in it; else a copy in a folder of your own"
    own_folder "$1" || fail "another user can replace what is in this folder" "given:   $REPLY" "allowed: a folder of yours or of root's, in which nobody else may write" "try:     $try"
    REPLY=$(find "$1" -mindepth 1 \( ! -user 0 ! -user "$EUID" -o ! -type l -perm /022 -o ! -type f ! -type d \) -print -quit) && [[ -z $REPLY ]] ||
        fail "another user can replace what is in this folder" "given:   $REPLY" "allowed: files and folders of yours or of root's, which nobody else may write, and no links" "try:     $try"
}

# check_downloads FOLDER: all of them are those of the list, and the list is that which was meant.
check_downloads() {
    local list=$1/SHA256SUMS here expected=${STRATA_FROM_SHA256:-} differs
    [[ -f $list ]] || fail "these downloads have no list of digests" "given: $1" "try:   ./strata setup --download FOLDER again, or the file SHA256SUMS was forgotten"
    here=$(digest_of_list "$1")
    say "the digest of the downloads' list is $here${expected:+, as given}"
    [[ -z $expected || ${expected,,} == "$here" ]] ||
        fail "these are not the downloads that were meant" "given:   STRATA_FROM_SHA256=$expected" "allowed: $here" "try:     the digest that --download said at its end"
    differs=$(diff <(digests "$1") "$list" | sed -n 's/^[<>] [0-9a-f]*  //p' | LC_ALL=C sort -u)
    [[ -z $differs ]] || fail "the downloads are not those of their list" "given: ${differs//$'\n'/, }" "try:   copy the folder again, or ./strata setup --download FOLDER"
}

# use_downloads FOLDER: nothing comes from a network from here on.
use_downloads() {
    local folder base_python
    folder=$(cd -P -- "$1" 2>/dev/null && pwd) && [[ -f $folder/made-for ]] ||
        fail "this is no folder of downloads" "given: $1" "try:   ./strata setup --download FOLDER on a machine with a network"
    own_downloads "$folder"
    find_python || fail "no Python was found that can make an environment" "$(python_trouble)"
    base_python=$REPLY
    [[ $(<"$folder/made-for") == "$(kind_of_wheels)" ]] ||
        fail "these downloads are for another machine" "given:   $folder, made for $(<"$folder/made-for")" "allowed: $(kind_of_wheels)" \
            "try:     STRATA_BASE_PYTHON=PYTHON names another Python, here or for --download"
    check_downloads "$folder"
    export PIP_NO_INDEX=1 "PIP_FIND_LINKS=file://${folder// /%20}/wheels" STRATA_NO_APT=1 # a space would end a name
}
