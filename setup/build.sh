# The native build: configured and compiled in STRATA_BUILD/cmake, installed into a fresh folder beside it, and made current by
# renaming one symbolic link. Whoever runs meanwhile has the whole old tree or the whole new one. A tree holds the parts that
# were asked for so far, and names them in share/strata/parts.

# switch PIECE OPTION: on where the piece is here and asked for by a part that is to be built.
switch() {
    if is_asked_for "$1" && ! contains "${missing[*]}" "$1"; then options+=("-D$2=ON"); else options+=("-D$2=OFF"); fi
}

configure() {
    local options=(-G Ninja -DCMAKE_BUILD_TYPE=Release "${private_options[@]}" "-DPython_EXECUTABLE=$venv/bin/python")
    local before launcher=() recorder language
    [[ ${STRATA_PRESET:-native} == native ]] || options+=(-DSTRATA_NATIVE=OFF)
    strata_program ninja ninja-build
    options+=("-DCMAKE_MAKE_PROGRAM=$REPLY")
    [[ -n ${CXX:-} ]] || options+=("-DCMAKE_CXX_COMPILER=$strata_compiler")
    switch mpi STRATA_MPI
    switch fftw STRATA_FFTW
    switch fortran STRATA_FORTRAN
    switch hdf5 STRATA_HDF5
    switch metis STRATA_METIS
    switch xz STRATA_XZ
    switch papi STRATA_PAPI
    switch valgrind STRATA_VALGRIND
    switch tomlplusplus STRATA_SOLVERS
    switch python-headers STRATA_PYTHON_GRAPH
    switch catch2 STRATA_TESTS
    mapfile -t before 2>/dev/null <"$STRATA_BUILD/configured"
    if [[ -f $STRATA_BUILD/cmake/build.ninja ]] && comes_from_before; then
        [[ ${before[*]} != "${options[*]}" ]] || return 0
    else # what changed since the last time must not linger in CMake's cache
        rm -rf -- "$STRATA_BUILD/cmake"
        if [[ -n ${STRATA_COMPILE_TIMES:-} ]]; then
            recorder="$base_python;$STRATA_ROOT/setup/compile_times.py;--record;$(realpath -- "$STRATA_COMPILE_TIMES")"
            for language in C CXX Fortran; do
                launcher+=("-DCMAKE_${language}_COMPILER_LAUNCHER=$recorder" "-DCMAKE_${language}_LINKER_LAUNCHER=$recorder")
            done
        elif strata_program ccache; then
            launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache) # a build that was begun without it goes on without it
        fi
    fi
    rm -f -- "$STRATA_BUILD/configured"
    logged cmake -S "$STRATA_ROOT" -B "$STRATA_BUILD/cmake" "${options[@]}" ${launcher[@]+"${launcher[@]}"} ${STRATA_CMAKE_ARGS:-} || return
    printf '%s\n' "${options[@]}" >"$STRATA_BUILD/configured"
}

# Whether the options are those of before but for switches that went on, as a further part's do: then what was compiled stays.
comes_from_before() {
    local i
    ((${#before[@]} == ${#options[@]})) || return
    for ((i = 0; i < ${#options[@]}; i++)); do
        [[ ${options[i]} == "${before[i]}" || ${options[i]} == "${before[i]%=OFF}=ON" ]] || return
    done
}

# How many compilers at once: as many as there are processors, and no more than memory has room for (1 GiB each).
jobs() {
    local kib processors
    processors=$(nproc)
    kib=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
    kib=$((${kib:-2097152} / 1048576))
    echo $((kib < 1 ? 1 : kib < processors ? kib : processors))
}

# slowness: percent of the seconds that this compiler needs where those of parts.csv and compile_seconds.csv were recorded, for a
# short text with large headers. It is measured where what there is to compile takes much longer than that.
recorded_for_the_text=800 # milliseconds
slowness_text='#include <functional>
#include <map>
#include <string>
#include <vector>
std::map<std::string, std::vector<std::function<int(int)>>> all;
int f(const std::string& s) { return all[s].size() > 1 ? all[s][1](7) : static_cast<int>(all.erase(s)); }'
slowness() {
    local began=${EPOCHREALTIME/[.,]/} folder
    if [[ -z ${slowness_is:-} ]]; then
        folder=$(mktemp -d) && printf "%s\n" "$slowness_text" >"$folder/text.cpp"
        if "${CXX:-${strata_compiler:-c++}}" -std=c++20 -O1 -c "$folder/text.cpp" -o "$folder/text.o" 2>/dev/null; then
            slowness_is=$(((${EPOCHREALTIME/[.,]/} - began) / recorded_for_the_text / 10))
        else
            slowness_is=100
        fi
        rm -rf -- "$folder"
    fi
    REPLY=$slowness_is
}

# expect TARGET...: what is to be compiled, and for how many seconds each, goes to expected-seconds; REPLY: seconds in all.
expect() {
    local expected=$STRATA_BUILD/expected-seconds seconds sum=0
    list_expected() {
        "${base_python:-$STRATA_PYTHON}" "$STRATA_ROOT/setup/compile_times.py" --expect "$STRATA_BUILD/cmake" "$@" \
            >"$expected" 2>>"$strata_log"
    }
    list_expected 100 "$@"
    while IFS=$'\t' read -r seconds _; do ((sum += 10#${seconds/./})); done <"$expected"
    REPLY=$((sum / 100))
    ((REPLY > 60)) || return 0
    slowness
    list_expected "$REPLY" "$@"
    REPLY=$((sum * REPLY / 10000))
}

# compile TARGET... Shows how far it is: on a terminal a line that moves, else a line each half minute. Where ccache compiles: what
# is compiled for this processor by name is found again on such a processor only, and in whatever folder the checkout lies.
compile() {
    expect "$@"
    strata_processor
    printf '%s\n' "$REPLY" >"$STRATA_BUILD/processor"
    printf '+ cmake --build %s --target %s\n' "$STRATA_BUILD/cmake" "$*" >>"$strata_log"
    env "CCACHE_EXTRAFILES=$STRATA_BUILD/processor" "CCACHE_BASEDIR=$STRATA_ROOT" CCACHE_NOHASHDIR=1 \
        CCACHE_SLOPPINESS=pch_defines,time_macros cmake --build "$STRATA_BUILD/cmake" -j "$(jobs)" --target "$@" 2>&1 |
        "${base_python:-$STRATA_PYTHON}" "$STRATA_ROOT/setup/progress.py" --part "compiling, files" --reads ninja \
            --seconds "$STRATA_BUILD/expected-seconds" --at-once "$(jobs)" >>"$strata_log"
    return "${PIPESTATUS[0]}"
}

# Compiles and installs the parts that are asked for. A killed compiler may have left anything behind: when a build that follows
# an interrupted one fails, it is made again from nothing before it counts as failed. `wheels` is the process that fills the Python
# environment meanwhile, or empty.
build_product() {
    local interrupted= targets=("${parts[@]/#/part_}")
    [[ ! -f $STRATA_BUILD/unfinished ]] || interrupted=1
    : >"$STRATA_BUILD/unfinished"
    touch -- "$STRATA_BUILD/stamp.new" # before reading any source: one that changes from here on is newer
    if ! { configure && compile "${targets[@]}"; }; then
        [[ -n $interrupted ]] || return
        rm -rf -- "$STRATA_BUILD/cmake"
        configure && compile "${targets[@]}" || return
    fi
    environment_is_made
    install_product || return
    mv -- "$STRATA_BUILD/stamp.new" "$STRATA_BUILD/stamp"
    rm -f -- "$STRATA_BUILD/unfinished"
}

# install_parts TREE NAME: what is compiled, and by which name the tree is known: that stays when another one takes its place.
install_parts() {
    local part
    for part in "${parts[@]}"; do
        [[ $part != first ]] || part=Unspecified
        logged cmake --install "$STRATA_BUILD/cmake" --component "$part" --strip --prefix "$1" || return
    done
    mkdir -p "$1/share/strata"
    printf '%s\n' "$2" >"$1/share/strata/prefix"
}

install_product() {
    local tree blas
    tree=$STRATA_BUILD/install-$(date +%Y%m%dT%H%M%S.%N)
    install_parts "$tree" "$STRATA_BUILD/current" || return
    printf '%s\n' "${parts[@]}" >"$tree/share/strata/parts"
    for blas in "$STRATA_BUILD"/venv/lib/python3*/site-packages/scipy_openblas32/lib/libscipy_openblas*.so; do
        [[ ! -f $blas ]] || printf '%s\n' "$blas" >"$tree/share/strata/blas-candidates"
    done
    ln -sfn -- "${tree##*/}" "$STRATA_BUILD/current.new" && mv -T -- "$STRATA_BUILD/current.new" "$STRATA_BUILD/current" || return
    # A measurement may still run from a tree that was replaced; a day later none does.
    find "$STRATA_BUILD" -mindepth 1 -maxdepth 1 -name 'install-*' ! -path "$tree" -mtime +0 -exec rm -rf -- {} +
}
