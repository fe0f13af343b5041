# The native build: configured and compiled in STRATA_BUILD/cmake, installed into a fresh folder beside it, and made current by
# renaming one symbolic link. Whoever runs meanwhile has the whole old tree or the whole new one.

configure() {
    local options=(-G Ninja -DCMAKE_BUILD_TYPE=Release "${private_options[@]}")
    [[ ${STRATA_PRESET:-native} == native ]] || options+=(-DSTRATA_NATIVE=OFF)
    ! contains "${missing[*]}" mpi || options+=(-DSTRATA_MPI=OFF)
    ! contains "${missing[*]}" fortran || options+=(-DSTRATA_FORTRAN=OFF)
    ! contains "${missing[*]}" fftw || options+=(-DSTRATA_FFTW=OFF)
    ! contains "${missing[*]}" hdf5 || options+=(-DSTRATA_HDF5=OFF)
    ! contains "${missing[*]}" papi || options+=(-DSTRATA_PAPI=OFF)
    ! contains "${missing[*]}" valgrind || options+=(-DSTRATA_VALGRIND=OFF)
    ! contains "${missing[*]}" tomlplusplus || options+=(-DSTRATA_SOLVERS=OFF)
    ! contains "${missing[*]}" catch2 || options+=(-DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON)
    if contains "${missing[*]}" python-headers; then
        options+=(-DSTRATA_PYTHON_GRAPH=OFF)
    else
        options+=("-DPython_EXECUTABLE=$venv/bin/python")
    fi
    strata_program ninja ninja-build
    options+=("-DCMAKE_MAKE_PROGRAM=$REPLY")
    [[ -n ${CXX:-} ]] || options+=("-DCMAKE_CXX_COMPILER=$strata_compiler")
    # The options as they were given: what changed since the last time must not linger in CMake's cache.
    if [[ -f $STRATA_BUILD/cmake/build.ninja && $(cat "$STRATA_BUILD/configured" 2>/dev/null) == "${options[*]}" ]]; then
        return
    fi
    rm -rf -- "$STRATA_BUILD/cmake" "$STRATA_BUILD/configured"
    logged cmake -S "$STRATA_ROOT" -B "$STRATA_BUILD/cmake" "${options[@]}" ${STRATA_CMAKE_ARGS:-} || return
    printf '%s\n' "${options[*]}" >"$STRATA_BUILD/configured"
}

# How many compilers at once: as many as there are processors, and no more than memory has room for (1 GiB each).
jobs() {
    local kib processors
    processors=$(nproc)
    kib=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
    kib=$((${kib:-2097152} / 1048576))
    echo $((kib < 1 ? 1 : kib < processors ? kib : processors))
}

# compile TARGET...
compile() {
    logged cmake --build "$STRATA_BUILD/cmake" -j "$(jobs)" --target "$@"
}

# Compiles and installs. A killed compiler may have left anything behind: when a build that follows an interrupted one fails,
# it is made again from nothing before it counts as failed.
build_product() {
    local interrupted=
    [[ ! -f $STRATA_BUILD/unfinished ]] || interrupted=1
    : >"$STRATA_BUILD/unfinished"
    touch -- "$STRATA_BUILD/stamp.new" # before reading any source: one that changes from here on is newer
    if ! { configure && compile product; }; then
        [[ -n $interrupted ]] || return
        rm -rf -- "$STRATA_BUILD/cmake"
        configure && compile product || return
    fi
    install_product || return
    mv -- "$STRATA_BUILD/stamp.new" "$STRATA_BUILD/stamp"
    rm -f -- "$STRATA_BUILD/unfinished"
}

install_product() {
    local tree blas
    tree=$STRATA_BUILD/install-$(date +%Y%m%dT%H%M%S.%N)
    logged cmake --install "$STRATA_BUILD/cmake" --component Unspecified --strip --prefix "$tree" || return
    mkdir -p "$tree/share/strata"
    for blas in "$STRATA_BUILD"/venv/lib/python3*/site-packages/scipy_openblas32/lib/libscipy_openblas*.so; do
        [[ ! -f $blas ]] || printf '%s\n' "$blas" >"$tree/share/strata/blas-candidates"
    done
    ln -sfn -- "${tree##*/}" "$STRATA_BUILD/current.new" && mv -T -- "$STRATA_BUILD/current.new" "$STRATA_BUILD/current" || return
    # A measurement may still run from a tree that was replaced; a day later none does.
    find "$STRATA_BUILD" -mindepth 1 -maxdepth 1 -name 'install-*' ! -path "$tree" -mtime +0 -exec rm -rf -- {} +
}
