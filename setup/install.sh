# An installation for all users of a machine: `./strata setup --install PREFIX`. PREFIX is a link to a complete tree in .trees beside it. Another
# installation of the same name makes a tree of its own and renames the link, so nobody meets half of one, and what runs keeps the
# tree that it started from. Nothing in a tree refers to the checkout.

installed_trees() { printf '%s/.trees/%s' "${prefix%/*}" "${prefix##*/}"; }

# choose_prefix FOLDER: sets `prefix`, or refuses it before anything is built.
choose_prefix() {
    local link
    prefix=$(realpath -ms -- "$1")
    [[ $prefix == /*/* && $prefix != *[][\{\}\;\:\"\\\$\*\?\|\&[:cntrl:]]* ]] ||
        fail "this cannot be the prefix of an installation" "given:   ${prefix//[[:cntrl:]]/ }" "allowed: /FOLDER/VERSION, without ; : & | \" \\ \$ * ?, brackets and line ends" \
            "try:     ./strata setup --install /opt/strata/1.0"
    own_place
    (umask 022 && mkdir -p -- "$(installed_trees)" 2>/dev/null) && [[ -w $(installed_trees) && -w ${prefix%/*} ]] ||
        fail "the installation cannot be written" "given: ${prefix%/*}" "try:   as root, or a folder that you may write"
    own_place
    link=$(readlink -- "$prefix")
    [[ $link != .trees/"${prefix##*/}"/* ]] || return 0
    [[ -L $prefix || -e $prefix ]] || return 0
    [[ ! -L $prefix ]] && rmdir -- "$prefix" 2>/dev/null ||
        fail "something else is there" "given:   $prefix" "allowed: a new name, an empty folder, or an earlier installation by --install" \
            "try:     --install $prefix-1, or move it away"
}

# own_place: what root installs nobody else may replace, since all users run it. Nor may anybody make what is not there yet, meanwhile or
# before: the folder beside the trees is no /tmp, where another user can be the first to have a prefix with settings, or a folder of modules.
own_place() {
    local folder mode
    mode=$(stat -L -c %a -- "${prefix%/*}" 2>/dev/null)
    ((!(8#${mode:-0} & 02))) || not_own "others may write in ${prefix%/*}"
    ((EUID == 0)) || return 0
    for folder in "${prefix%/*}" "$(installed_trees)" "${prefix%/*}/modulefiles/strata"; do
        own_folder "$folder" || not_own "$REPLY"
    done
}

not_own() {
    fail "another user could replace the installation" "given:   $1" \
        "allowed: folders of yours or of root's, as root of root's alone, in which nobody else may write" "try:     another folder; or as the user whose it is"
}

# relocate FOLDER FILE...: text files that name FOLDER of the build name that of the installation.
relocate() {
    local from=$1
    shift
    (($# == 0)) || grep -lIF -Z -- "$from" "$@" | xargs -0 -r sed -i "s|$from|$prefix/${from##*/}|g"
}

install_for_all() {
    local tree old packages python module
    say "installing into $prefix"
    umask 022
    tree=$(installed_trees)/$(date +%Y%m%dT%H%M%S.%N)
    unfinished=$tree.unfinished
    mkdir -m 700 -- "$unfinished" || fail "the installation cannot be written" "given: $unfinished" # closed until nobody else may write
    install_parts "$unfinished" "$prefix" || fail "the programs could not be installed" "given: $prefix"

    python=$unfinished/python
    mkdir -p "$python" && cp -RP --preserve=mode,timestamps,links -- "$venv/." "$python" || fail "the Python environment could not be copied" "given: $prefix"
    find "$python/bin" -mindepth 1 ! -name 'python*' -delete # scripts that name the checkout; python -m has them all
    sed -i '/^command *=/d' "$python/pyvenv.cfg"
    packages=$(echo "$python"/lib/python3*/site-packages)
    rm -f -- "$packages/strata.pth"
    cp -R --preserve=mode,timestamps -- "$STRATA_ROOT/python/strata" "$packages" &&
        find "$packages/strata" -name __pycache__ -prune -exec rm -rf -- {} + &&
        logged "$python/bin/python" -P -m compileall -q "$packages/strata" || fail "the Python package could not be installed" "given: $prefix"
    if [[ -d $STRATA_BUILD/private ]]; then # its libraries are found by their relative path (private.sh)
        cp -RP --preserve=mode,timestamps,links -- "$STRATA_BUILD/private" "$unfinished" || fail "the private prefix could not be copied" "given: $prefix"
        relocate "$STRATA_BUILD/private" "$unfinished"/private/bin/* "$unfinished"/lib*/cmake/strata/*.cmake
    fi
    [[ ! -d $prefix/etc ]] || cp -RP --preserve=mode,timestamps -- "$prefix/etc/." "$unfinished/etc" || fail "the settings could not be copied" "given: $prefix/etc"
    find "$unfinished" -mindepth 1 ! -type l -exec chmod a+rX,go-w,ug-s -- {} + && chmod 755 -- "$unfinished" || fail "the installation cannot be opened to others" "given: $prefix"
    try_it

    old=$(readlink -- "$prefix")
    mv -T -- "$unfinished" "$tree" && unfinished= &&
        ln -sfn -- ".trees/${prefix##*/}/${tree##*/}" "$(installed_trees)/link" && mv -T -- "$(installed_trees)/link" "$prefix" ||
        fail "the installation cannot be put in its place" "given: $prefix"
    # A job may run for weeks from a tree that was replaced.
    [[ -z $old ]] || touch -c -- "${prefix%/*}/$old"
    find "$(installed_trees)" -mindepth 1 -maxdepth 1 -type d ! -path "$tree" -mtime +29 -exec rm -rf -- {} +

    module=${prefix%/*}/modulefiles/strata/${prefix##*/}
    mkdir -p -- "${module%/*}" &&
        module_file tcl >"$(installed_trees)/module" && mv -- "$(installed_trees)/module" "$module" &&
        module_file lua >"$(installed_trees)/module" && mv -- "$(installed_trees)/module" "$module.lua" ||
        fail "the module file cannot be written" "given: $module"
    say "installed $(du -sh -- "$tree" | cut -f 1) after $(minutes "$SECONDS"); for its users:"
    printf '    module use %q && module load strata/%s\n' "${module%/*/*}" "${prefix##*/}" >&2
    say "settings of the cluster: $prefix/etc/strata/site.toml"
}

# starts WORD...: whether the new tree starts in a bare environment, by way of these words.
starts() {
    local outer=("$@" env -i "PATH=$PATH" "LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}")
    logged "${outer[@]}" "$unfinished/bin/strata" --version && logged "${outer[@]}" "$unfinished/python/bin/python" -P -c 'import strata'
}

# as_nobody WORD...: as user 65534. Programs of that user's may be there, which can look into this one, stop it, and take what it has open:
# so it has neither root's terminal nor the lock of the builds nor the log, and is not waited for without end.
as_nobody() {
    timeout -s KILL 60 setsid -w setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all -- "$@" </dev/null >/dev/null 2>&1 9>&-
}

# What it needs outside of the tree (libraries, the base of its Python) may lie in a home that others cannot read, and so may the tree.
try_it() {
    local python
    python=$(readlink -f -- "$unfinished/python/bin/python")
    ((EUID != 0)) || { own_folder "$python" && own_folder "${python%/bin/*}/lib"; } ||
        fail "another user could replace the Python of the installation" "given:   $REPLY" \
            "allowed: a Python of root's, in folders of root's" "try:     with the system's Python first on PATH, then the same again"
    starts || fail "the installation does not start" "given: $prefix"
    ((EUID == 0)) && command -v setpriv >/dev/null && ! starts as_nobody || return 0
    say "user 65534 (nobody) cannot start it: whoever is to use it must be able to read $prefix,"
    say "its Python ($(readlink -f -- "$unfinished/python/bin/python")) and its libraries (ldd $prefix/bin/strata)"
}
