# Module files: what a person or another module's author has named stays one word of theirs, whatever it contains.

# tcl_word TEXT: for Environment Modules. Fails where it has characters that end a line or cannot be seen.
tcl_word() {
    local text=$1
    [[ $text != *[[:cntrl:]]* ]] || return
    if [[ $text =~ ^[A-Za-z0-9_.+-][A-Za-z0-9_./+-]*$ ]]; then
        printf '%s' "$text"
    elif [[ $text != *[{}\\]* ]]; then
        printf '{%s}' "$text"
    else # Tcl(n): what these do in double quotes a backslash takes away
        printf '"%s"' "$(sed 's/[][{}"\\$]/\\&/g' <<<"$text")"
    fi
}

# lua_word TEXT: the same for Lmod.
lua_word() {
    [[ $1 != *[[:cntrl:]]* ]] || return
    printf '"%s"' "$(sed 's/["\\]/\\&/g' <<<"$1")"
}

# module_line tcl|lua VERB WORD...: a line of a module file, by Lmod's names of the verbs.
module_line() {
    local kind=$1 verb=$2 word made=()
    shift 2
    for word; do made+=("$("${kind}_word" "$word")") || return; done
    if [[ $kind == lua ]]; then
        printf -v word ', %s' "${made[@]}"
        printf '%s(%s)\n' "$verb" "${word:2}"
    else
        case $verb in
        whatis) verb=module-whatis ;;
        load) verb='module load' ;;
        prepend_path) verb=prepend-path ;;
        esac
        printf '%s %s\n' "$verb" "${made[*]}"
    fi
}

# module_file tcl|lua: of the installation at `prefix`: PATH, the package for find_package(strata), and the modules that were loaded when
# it was installed.
module_file() {
    local name
    [[ $prefix != *[[:cntrl:]]* ]] || return
    name="Written by: ./strata setup --install $prefix, which writes it again for another build."
    if [[ $1 == tcl ]]; then printf '#%%Module1.0\n# %s\n' "$name"; else printf -- '-- %s\n' "$name"; fi
    module_line "$1" whatis "Strata: what a parallel machine can do, and how to lay a program out on it" &&
        module_line "$1" conflict strata || return
    while IFS= read -r -d : name; do
        [[ -z $name || $name == strata/* ]] || module_line "$1" load "$name" || return
    done <<<"${LOADEDMODULES:-}:"
    module_line "$1" prepend_path PATH "$prefix/bin" && module_line "$1" prepend_path CMAKE_PREFIX_PATH "$prefix" || return
    [[ ! -d $prefix/private ]] || module_line "$1" prepend_path PATH "$prefix/private/tools" # MPI's launcher, and what solvers are built with
}
