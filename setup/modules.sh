# Environment modules: tried for what is missing, and written down, so that a later start has the same environment.

# `module` is a shell function that a login shell defines; a script looks for its definition itself.
find_module_command() {
    local file
    for file in "${LMOD_PKG:-/nowhere}/init/bash" "${MODULESHOME:-/nowhere}/init/bash" /etc/profile.d/modules.sh \
        /etc/profile.d/lmod.sh; do
        [[ $(type -t module) == function ]] && return
        [[ ! -f $file ]] || . "$file" >/dev/null 2>&1
    done
    [[ $(type -t module) == function ]]
}

names_of_module() {
    case $1 in
    compiler) echo gcc GCC gnu llvm ;;
    python | python-headers) echo python Python python3 cray-python ;;
    mpi) echo openmpi OpenMPI "mpi/openmpi-$HOSTTYPE" mpich cray-mpich intel-mpi impi ;;
    fftw) echo fftw FFTW fftw3 cray-fftw ;;
    hdf5) echo hdf5 HDF5 cray-hdf5 ;;
    fortran) echo gcc GCC gnu ;;
    cmake) echo cmake CMake ;;
    ninja) echo ninja Ninja ;;
    catch2) echo catch2 Catch2 ;;
    xz) echo xz XZ ;;
    *) echo "$1" ;;
    esac
}

# load_modules PIECE...: tries the usual names of each, keeps a module only when the piece is there afterwards.
load_modules() {
    local piece name
    find_module_command || return
    for piece; do
        left_out "$piece" && continue
        for name in $(names_of_module "$piece"); do
            logged module load "$name" || continue
            find_pieces
            if contains "${missing[*]}" "$piece"; then
                logged module unload "$name"
            else
                say "module $name gives $piece"
                break
            fi
        done
    done
}

# environment_changes BEFORE: what of the environment differs from the file BEFORE (env -0), as shell that makes it so again and
# keeps the outer values for a strata that is started from within. Where a list was extended at its front only the addition
# is written, so that the user's own PATH stays the user's.
environment_changes() {
    local entry name value
    declare -A before
    while IFS= read -r -d '' entry; do before[${entry%%=*}]=${entry#*=}; done <"$1"
    while IFS= read -r -d '' entry; do
        name=${entry%%=*} value=${entry#*=}
        [[ $name =~ ^[A-Za-z][A-Za-z0-9_]*$ && $name != SHLVL && $value != "${before[$name]-}" ]] || continue
        printf 'export STRATA_OUTER_%s=${%s-}\n' "$name" "$name"
        if [[ ($name == *PATH && -z ${before[$name]-}) || $value == *":${before[$name]-}" ]]; then
            printf 'export %s=%q${%s:+:$%s}\n' "$name" "${value%":${before[$name]-}"}" "$name" "$name"
        else
            printf 'export %s=%q\n' "$name" "$value"
        fi
    done < <(env -0)
}

# The environment outside of any strata that this one was started from.
restore_outer_environment() {
    local name
    for name in "${!STRATA_OUTER_@}"; do
        export "${name#STRATA_OUTER_}=${!name}"
        unset "$name"
    done
    unset STRATA_ENVIRONMENT
}
