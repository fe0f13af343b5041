# Which build belongs to this machine, decided at every start and therefore cheap: sourced by ./strata and by set-up.
#
# A build may run only where its key is, letter for letter, what this file finds: the processor and what it can do, the
# operating system and C library, the preset, the compiler and the MPI. A home directory that unlike machines share then
# holds one build for each kind, and none meets an instruction that it lacks.
#
# Switches, all part of the key:
#   STRATA_PRESET=native|portable   portable: one build for all processors of this architecture
#   STRATA_WITHOUT="mpi fftw ..."   pieces to leave out as if they did not exist
#   STRATA_IGNORE_SYSTEM="hwloc .." pieces to take from the private prefix although the system has them
#   STRATA_CMAKE_ARGS="..."         further options of the configuration
# STRATA_BUILDS is the folder of all builds (default: build/ in the checkout). STRATA_CPUINFO replaces /proc/cpuinfo.

# strata_own_lock: the builds' lock, as a file that only those who may build can open: whoever may read a file can hold its lock.
strata_own_lock() {
    (umask o= && : >>"$STRATA_BUILDS/lock")
    chmod o= -- "$STRATA_BUILDS/lock" 2>/dev/null || : # another user's, of a group that builds together
}

# strata_modules_elsewhere: takes out of PYTHONPATH what is the folder in which a command is typed; an empty entry is. Somebody else may
# have put modules there.
strata_modules_elsewhere() {
    local - each kept= IFS=:
    set -f # no entry is a pattern of names
    for each in ${PYTHONPATH-}; do [[ $each != /* ]] || kept+=${kept:+:}$each; done
    [[ ! -v PYTHONPATH ]] || export PYTHONPATH=$kept
}

# strata_program NAME...: REPLY becomes the path of the first that PATH has ("type -P" would cost a process).
strata_program() {
    local name folder IFS=:
    for name; do
        if [[ $name == */* ]]; then
            [[ -x $name ]] && REPLY=$name && return
            continue
        fi
        for folder in $PATH; do
            [[ -f $folder/$name && -x $folder/$name ]] && REPLY=$folder/$name && return
        done
    done
    REPLY=
    return 1
}

# The first processor of /proc/cpuinfo in the words that decide which instructions it has.
strata_processor() {
    local line name
    REPLY=
    while IFS= read -r line && [[ -n $line ]]; do
        name=${line%%:*}
        name=${name%"${name##*[![:space:]]}"}
        case $name in
        vendor_id | 'cpu family' | model | 'model name' | stepping | flags | 'CPU implementer' | 'CPU architecture' | \
            'CPU variant' | 'CPU part' | 'CPU revision' | Features | cpu | isa | uarch)
            REPLY+="$name=${line#*: };"
            ;;
        esac
    done <"${STRATA_CPUINFO:-/proc/cpuinfo}"
}

# strata_find_words: sets strata_words to what of the key this shell finds by itself, and strata_compiler and strata_mpi. Fails where
# there is no such preset.
strata_find_words() {
    local preset=${STRATA_PRESET:-native} processor line name='' version=''
    local PATH=${STRATA_OUTER_PATH-$PATH}
    case $preset in
    native)
        strata_processor
        processor=$REPLY
        ;;
    portable) processor=any ;;
    *)
        printf 'strata: error: there is no such preset\n  given:   STRATA_PRESET=%s\n  allowed: native, portable\n' "$preset" >&2
        return 1
        ;;
    esac
    if [[ -r /etc/os-release ]]; then
        while IFS= read -r line; do
            case $line in
            ID=*) name=${line#*=} ;;
            VERSION_ID=*) version=${line#*=} ;;
            esac
        done </etc/os-release
    fi
    strata_program ${CXX:-c++ g++ clang++}
    strata_compiler=$REPLY
    strata_program mpicxx
    strata_mpi=$REPLY
    strata_words=("processor: $processor" "system: $HOSTTYPE $name $version" "preset: $preset
without: ${STRATA_WITHOUT:-}
ignore: ${STRATA_IGNORE_SYSTEM:-}
options: ${STRATA_CMAKE_ARGS:-} ${CXX:-} ${CXXFLAGS:-}")
}

# strata_key FOLDER: sets STRATA_ROOT, STRATA_BUILDS, and the key with its first part, the host.
strata_key() {
    local facts
    strata_find_words || return
    facts=$(
        cd -P -- "$1" && printf '%s\n' "$PWD"
        getconf GNU_LIBC_VERSION 2>&1
        [[ -z $strata_compiler$strata_mpi ]] || stat -L -c '%n %s %Y' -- $strata_compiler ${strata_mpi:+"$strata_mpi"} 2>&1
    )
    STRATA_ROOT=${facts%%$'\n'*}
    facts=${facts#*$'\n'}
    [[ -z ${STRATA_BUILDS:-} ]] || strata_own_builds || return
    STRATA_BUILDS=${STRATA_BUILDS:-$STRATA_ROOT/build}
    strata_host="${strata_words[0]}
${strata_words[1]} ${facts%%$'\n'*}
root: $STRATA_ROOT
${strata_words[2]}"
    strata_key="$strata_host
tools: ${facts#*$'\n'}"
    export STRATA_ROOT
}

# strata_own_builds: whether STRATA_BUILDS, which somebody has set, is no folder in which others could have put a build; else says so.
strata_own_builds() {
    . "$STRATA_ROOT/setup/own_folders.sh"
    own_folder "$(realpath -ms -- "$STRATA_BUILDS")" "$(stat -c %u -- "$STRATA_ROOT")" && return
    printf 'strata: error: another user can replace the builds in this folder\n  given:   STRATA_BUILDS=%s: %s\n' "$STRATA_BUILDS" "$REPLY" >&2
    printf '  allowed: a folder of yours, of root'\''s or of the checkout'\''s owner, in which nobody else may write\n' >&2
    return 1
}

# strata_remember: after strata_find_build, leaves for the next start on this host what this one has found, so that it needs no further
# process: the front itself compares it with what it finds (cli/recall.cpp), and starts ./strata again where anything differs. Where
# nothing can be written nothing is remembered.
strata_remember() {
    local libc= each facts compiler= mpi=
    [[ $STRATA_BUILDS == "$STRATA_ROOT/build" && -z ${STRATA_OUTER_PATH:-} && ! -s $STRATA_BUILD/environment && -w $STRATA_BUILDS ]] || return 0
    for each in /lib/"$HOSTTYPE"-linux-gnu/libc.so.6 /lib64/libc.so.6 /usr/lib/libc.so.6; do
        [[ ! -e $each ]] || { libc=$each && break; }
    done
    for each in compiler mpi libc; do
        local -n path=$each
        case $each in
        compiler) path=$strata_compiler ;;
        mpi) path=$strata_mpi ;;
        esac
        [[ -z $path ]] || path="$path $(stat -L -c '%s %Y' -- "$path")" || return 0
        unset -n path
    done
    facts="shell=$HOSTTYPE $BASH_VERSION
build=$STRATA_BUILD
root=$STRATA_ROOT
processor=${strata_words[0]#processor: }
system=${strata_words[1]#"system: $HOSTTYPE "}
STRATA_PRESET=${STRATA_PRESET:-}
STRATA_WITHOUT=${STRATA_WITHOUT:-}
STRATA_IGNORE_SYSTEM=${STRATA_IGNORE_SYSTEM:-}
STRATA_CMAKE_ARGS=${STRATA_CMAKE_ARGS:-}
CXX=${CXX:-}
CXXFLAGS=${CXXFLAGS:-}
compiler=$compiler
mpi=$mpi
libc=$libc"
    printf '%s\n' "$facts" 2>/dev/null >"$STRATA_BUILDS/memory-$HOSTNAME.$$" &&
        mv -f -- "$STRATA_BUILDS/memory-$HOSTNAME.$$" "$STRATA_BUILDS/memory-$HOSTNAME" 2>/dev/null
    return 0
}

# Sets STRATA_BUILD to the folder of the build made for this key. A compute node may have no compiler: there a build with
# the same host is as good.
strata_find_build() {
    local file key
    for file in "$STRATA_BUILDS"/*/key; do
        [[ -f $file ]] || continue
        IFS= read -r -d '' key <"$file"
        key=${key%$'\n'}
        if [[ $key == "$strata_key" || (-z $strata_compiler && $key == "$strata_host"$'\n'*) ]]; then
            STRATA_BUILD=${file%/key}
            [[ -x $STRATA_BUILD/current/bin/strata && -x $STRATA_BUILD/venv/bin/python ]] && return
        fi
    done
    STRATA_BUILD=
    return 1
}

# Which files are sources, for find.
strata_sources=(-name '*.[ch]pp' -o -name CMakeLists.txt -o -name '*.cmake' -o -name '*.in' -o -name pieces.csv -o -name parts.csv -o -name solver.toml)

# True when a source is newer than the build, and there is a compiler (perhaps from a module) to do something about it.
strata_is_stale() {
    [[ -n $strata_compiler || -s $STRATA_BUILD/environment ]] || return
    [[ $STRATA_ROOT/pyproject.toml -nt $STRATA_BUILD/venv/complete ]] && return
    local newer
    newer=$(find -L "$STRATA_ROOT/CMakeLists.txt" "$STRATA_ROOT"/{core,cli,benchmarks,methods,solvers,cmake,python/strata/pieces.csv,setup/parts.csv} \
        -newer "$STRATA_BUILD/stamp" \( "${strata_sources[@]}" \) -print -quit 2>/dev/null)
    [[ -n $newer ]]
}

# What the native front and Python are told; where pieces came from modules or a private prefix, that environment again.
strata_use_build() {
    if [[ -s $STRATA_BUILD/environment && ${STRATA_ENVIRONMENT:-} != "$STRATA_BUILD" ]]; then
        . "$STRATA_BUILD/environment"
        export STRATA_ENVIRONMENT=$STRATA_BUILD
    fi
    export STRATA_PYTHON=$STRATA_BUILD/venv/bin/python
    if [[ -z ${STRATA_BLAS_CANDIDATES:-} && -f $STRATA_BUILD/current/share/strata/blas-candidates ]]; then
        IFS= read -r STRATA_BLAS_CANDIDATES <"$STRATA_BUILD/current/share/strata/blas-candidates"
        export STRATA_BLAS_CANDIDATES
    fi
}
