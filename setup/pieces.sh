# The pieces that Strata is made of (python/strata/pieces.csv; what solvers need says solvers/NAME/solver.toml), whether they are here, and how a person gets them.

declare -A piece_need piece_part piece_debian piece_fedora piece_spack piece_wheels piece_without
piece_names=()

read_pieces() {
    local piece need part debian fedora spack wheels without
    while IFS=, read -r piece need part debian fedora spack wheels without; do
        [[ $piece != piece ]] || continue
        piece_names+=("$piece")
        piece_need[$piece]=$need piece_part[$piece]=$part piece_debian[$piece]=$debian piece_fedora[$piece]=$fedora
        piece_spack[$piece]=$spack piece_wheels[$piece]=$wheels piece_without[$piece]=${without//\"/}
    done <"$STRATA_ROOT/python/strata/pieces.csv"
    local manifest
    for manifest in "$STRATA_ROOT"/solvers/*/solver.toml; do [[ ! -f $manifest ]] || read_needs "$manifest"; done
}

# read_needs MANIFEST: the part that a solver is in asks for what the solver needs; in a manifest each of both is one line.
read_needs() {
    local line part=() needs=() piece
    while IFS= read -r line || [[ -n $line ]]; do
        line=${line%%#*}
        case $line in
        'part = '*) read -ra part <<<"${line//[^a-z0-9_-]/ }" ;;
        'needs = '*) read -ra needs <<<"${line//[^a-z0-9_-]/ }" ;;
        esac
    done <"$1"
    for piece in "${needs[@]:1}"; do
        contains "${piece_part[$piece]-}" "${part[1]}" || piece_part[$piece]+=" ${part[1]}"
    done
}

contains() { [[ " $1 " == *" $2 "* ]]; }
left_out() { contains "${STRATA_WITHOUT:-}" "$1"; }

# Whether one of the parts that are to be built asks for this piece.
is_asked_for() {
    local part
    for part in ${piece_part[$1]}; do contains "${parts[*]}" "$part" && return; done
    return 1
}

# The first Python that is new enough and can make an environment with pip in it; STRATA_BASE_PYTHON names another. Debian
# splits what that takes, ensurepip, off into a package of its own, and `import venv` works without it. One that is new enough
# and lacks this is left in python_lacks, with its version. -P, here as elsewhere: without it -c, -m and - import from the current
# folder first, where somebody else may have put a venv.py.
find_python() {
    local name version
    python_lacks=
    for name in ${STRATA_BASE_PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
        strata_program "$name" || continue
        version=$("$REPLY" -c 'import sys; assert sys.version_info >= (3, 11); print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
            continue
        "$REPLY" -P -c 'import venv
try:
    import ensurepip
except ImportError:
    import pip' 2>/dev/null && return
        [[ -n $python_lacks ]] || python_lacks="$REPLY $version"
    done
    REPLY=
    return 1
}

# What a person is told when find_python found none.
python_trouble() {
    if [[ -n $python_lacks ]]; then
        printf '%s is there and cannot make an environment; on Debian and Ubuntu the package python%s-venv is missing\n' \
            "${python_lacks% *}" "${python_lacks##* }"
    else
        printf 'no Python 3.11 or newer was found; on Debian and Ubuntu the packages are python3 and python3-venv\n'
    fi
}

# Of the Python that the environment is made with.
python_headers() {
    find_python && "$REPLY" -P -c 'import os, sysconfig
assert os.path.isfile(os.path.join(sysconfig.get_path("include"), "Python.h"))' 2>/dev/null
}

compiler_works() {
    [[ -n $strata_compiler ]] || return
    printf '#include <concepts>\n#include <span>\ntemplate <std::integral T> T f(std::span<T> s) { return s[0]; }\n' |
        ${CXX:-$strata_compiler} -std=c++20 -fsyntax-only -x c++ - 2>/dev/null
}

cmake_works() {
    local version
    version=$(cmake --version 2>/dev/null) || return
    version=${version#cmake version }
    [[ $(printf '3.21\n%s\n' "${version%%[!0-9.]*}" | sort -V | head -n 1) == 3.21 ]]
}

# The names of those libraries whose headers the compiler finds: one run of the preprocessor for all of them.
headers_found() {
    local folder found flags=()
    local IFS=:
    for folder in ${CMAKE_PREFIX_PATH:-}; do flags+=(-I "$folder/include"); done
    unset IFS
    if command -v pkg-config >/dev/null; then
        for folder in hwloc fmt hdf5; do
            read -r -a found <<<"$(pkg-config --cflags-only-I "$folder" 2>/dev/null)"
            flags+=("${found[@]}")
        done
    fi
    flags+=(-idirafter /usr/include/hdf5/serial) # Debian's place, known to CMake also where there is no pkg-config
    ${CXX:-$strata_compiler} -E -P "${flags[@]}" -x c++ - 2>/dev/null <<'SOURCE' | sed -n 's/^found //p'
#if __has_include(<hwloc.h>)
#include <hwloc.h>
#if HWLOC_API_VERSION >= 0x20000
found hwloc
#endif
#endif
#if __has_include(<fmt/format.h>)
found fmt
#endif
#if __has_include(<fftw3.h>)
found fftw
#endif
#if __has_include(<hdf5.h>)
found hdf5
#endif
#if __has_include(<metis.h>)
found metis
#endif
#if __has_include(<lzma.h>)
found xz
#endif
#if __has_include(<papi.h>)
found papi
#endif
#if __has_include(<valgrind/callgrind.h>)
found valgrind
#endif
#if __has_include(<toml++/toml.h>)
found tomlplusplus
#endif
#if __has_include(<catch2/catch_all.hpp>) || __has_include(<catch2/catch.hpp>)
found catch2
#endif
SOURCE
}

# Sets `missing` to the pieces that are asked for and not here.
find_pieces() {
    local piece headers
    strata_program ${CXX:-c++ g++ clang++}
    strata_compiler=$REPLY
    headers=$(headers_found)
    missing=()
    for piece in "${piece_names[@]}"; do
        is_asked_for "$piece" || continue
        # What a private prefix is to provide counts as missing until it is there.
        if ! left_out "$piece" && { contains "$provided" "$piece" || ! contains "${STRATA_IGNORE_SYSTEM:-}" "$piece"; }; then
            case $piece in
            compiler) compiler_works && continue ;;
            python) find_python && continue ;;
            cmake) cmake_works && continue ;;
            ninja) strata_program ninja ninja-build && continue ;;
            mpi) strata_program mpicxx && continue ;;
            python-headers) python_headers && continue ;;
            fortran) strata_program ${FC:-gfortran flang-new flang ifx ifort nvfortran f95} && continue ;;
            *) [[ $'\n'$headers$'\n' == *$'\n'$piece$'\n'* ]] && continue ;;
            esac
        fi
        missing+=("$piece")
    done
}

# The exact command of each system for the pieces that are given.
commands_for() {
    local piece debian='' fedora='' spack=''
    for piece; do
        debian+=" ${piece_debian[$piece]}" fedora+=" ${piece_fedora[$piece]}" spack+=" ${piece_spack[$piece]}"
    done
    printf 'Debian, Ubuntu: sudo apt-get install%s\n' "$debian"
    printf 'Fedora:         sudo dnf install%s\n' "$fedora"
    printf 'Spack:          spack install%s && spack load%s\n' "$spack" "$spack"
}
