# Pieces that only tests need: small programs that a minimal system lacks, a virtual machine with several memories (QEMU, a
# cloud kernel, busybox), the other MPI, the other OpenMP runtime, likwid, whose strings are compared, Slurm, VTK, which opens
# field files, and ASE and MDAnalysis, which molecular dynamics works with. Where they cannot be had the tests that need them are skipped and say so; nothing else is lost.
# STRATA_TEST_KERNEL=FILE names a kernel to boot, STRATA_TEST_SLURM=FOLDER where Slurm is unpacked, STRATA_TEST_VTK=FOLDER and
# STRATA_TEST_MD=FOLDER where those wheels are; STRATA_NO_APT=1 forbids apt.

test_packages=(mount:mount procps:pgrep hostname:hostname make:make iproute2:ip
    qemu-system-x86:qemu-system-x86_64 busybox-static:busybox numactl:numactl mpich:mpirun.mpich libmpich-dev:mpicc.mpich
    mmdebstrap:mmdebstrap clang:clang++ likwid:likwid-pin libomp-dev:/usr/lib/llvm-*/lib/libomp.so)

# A package counts as here when its program or file is.
test_piece_is_here() {
    local found
    [[ $1 == /* ]] || { command -v "$1" >/dev/null; return; }
    for found in $1; do [[ -e $found ]] && return; done
    return 1
}

# The kernel is unpacked, not installed: nothing of the machine's own start changes.
get_test_kernel() {
    local kernel=$STRATA_BUILDS/test-kernel/vmlinuz package folder
    [[ ! -e $kernel && -z ${STRATA_TEST_KERNEL:-} ]] && [[ $HOSTTYPE == x86_64 ]] && may_use_apt || return 0
    command -v dpkg-deb >/dev/null || return 0
    cloud_kernel() { apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-.*-cloud-amd64\)$/\1/p'; }
    package=$(cloud_kernel)
    folder=$(mktemp -d) && (
        cd "$folder" || exit
        # Lists that are missing, or so old that the server has a newer kernel than they know.
        apt-get download "$package" || { apt-get update && apt-get download "$(cloud_kernel)"; }
        dpkg-deb -x ./*.deb unpacked && mkdir -p "${kernel%/*}" && cp unpacked/boot/vmlinuz-* "$kernel.new" && mv "$kernel.new" "$kernel"
    ) >>"$strata_log" 2>&1 || say "no kernel for the virtual machine (see $strata_log): its tests are skipped"
    rm -rf -- "$folder"
}

# Slurm and munge are unpacked, not installed: a machine with Slurm's commands looks like a cluster's, and daemons would start.
get_test_slurm() {
    local slurm=$STRATA_BUILDS/test-slurm folder sudo=() needed="slurmctld slurmd slurm-client munge patchelf" database="slurmdbd mariadb-server-core"
    [[ ! -e $slurm/complete || $(<"$slurm/complete") != "$needed"* ]] && may_use_apt && command -v dpkg-deb >/dev/null || return 0
    [[ ! -x /usr/sbin/slurmctld || ! -x /usr/sbin/munged ]] || return 0
    ((EUID == 0)) || sudo=(sudo -n)
    folder=$(mktemp -d) && (
        mkdir -p "$folder/packages/partial" "$folder/unpacked" && chmod 755 "$folder" || exit
        download=("${sudo[@]}" apt-get -y --no-install-recommends --download-only -o DPkg::Lock::Timeout=300
            -o "Dir::Cache::archives=$folder/packages" install $needed)
        # What they need beyond what is installed comes along. The database has other names elsewhere, and only accounting needs it.
        "${download[@]}" $database || { "${sudo[@]}" apt-get update && { "${download[@]}" $database || "${download[@]}"; }; } || exit
        for package in "$folder"/packages/*.deb; do dpkg-deb -x "$package" "$folder/unpacked" || exit; done
        # Debian's daemons have their own names by alternatives, which an unpacked package lacks; from Slurm 24 on they ask for them.
        for daemon in "$folder"/unpacked/usr/*bin/*-wlm; do
            [[ ! -e $daemon || -e ${daemon%-wlm} ]] || ln -s "${daemon##*/}" "${daemon%-wlm}" || exit
        done
        # Slurm 24's daemons start themselves again to run a prolog, with nothing of their environment: not LD_LIBRARY_PATH either.
        for daemon in "$folder"/unpacked/usr/sbin/slurm*; do
            [[ -L $daemon ]] || PATH=$PATH:$folder/unpacked/usr/bin patchelf --force-rpath --set-rpath \
                "\$ORIGIN/../lib/$HOSTTYPE-linux-gnu/slurm-wlm:\$ORIGIN/../lib/$HOSTTYPE-linux-gnu" "$daemon" || exit
        done
        rm -rf -- "$slurm" && mv "$folder/unpacked" "$slurm" && echo "$needed $database" >"$slurm/complete"
    ) >>"$strata_log" 2>&1 || say "no Slurm to try (see $strata_log): its tests are skipped"
    "${sudo[@]}" rm -rf -- "$folder"
}

# Wheels without what else they ask for, in a folder that only their tests see.
get_test_wheels() { # NAME FOLDER_OF_THE_TESTS TEXT WHEEL...
    local folder=$2 text=$3
    [[ ! -e $folder ]] || return 0
    say "getting what only tests need: $text"
    rm -rf -- "$folder.new"
    if pip_install "$STRATA_BUILD/venv/bin/python" --quiet --no-deps --target "$folder.new" "${@:4}"; then
        mv -- "$folder.new" "$folder"
    else
        rm -rf -- "$folder.new"
        say "no $1 (see $strata_log): its tests are skipped"
    fi
}

get_test_pieces() {
    local each environment missing=()
    for each in "${test_packages[@]}"; do
        test_piece_is_here "${each#*:}" || missing+=("${each%%:*}")
    done
    if ((${#missing[@]} > 0)) && may_use_apt; then
        say "getting what only tests need: ${missing[*]}"
        apt_install "${missing[@]}" || say "apt could not install them (see $strata_log): their tests are skipped"
    fi
    get_test_kernel
    get_test_slurm
    environment=$(readlink -f -- "$STRATA_BUILD/venv") && environment=${environment##*/venv-run-}
    export STRATA_TEST_VTK=${STRATA_TEST_VTK:-$STRATA_BUILDS/test-vtk-$environment}
    get_test_wheels VTK "$STRATA_TEST_VTK" "VTK's wheel" 'vtk>=9.7'
    # Those of molecular dynamics, with what they import beside NumPy, SciPy and Matplotlib.
    export STRATA_TEST_MD=${STRATA_TEST_MD:-$STRATA_BUILDS/test-md-$environment}
    get_test_wheels "ASE and MDAnalysis" "$STRATA_TEST_MD" "ASE and MDAnalysis" 'ase>=3.22' 'MDAnalysis>=2.7' \
        GridDataFormats mrcfile mmtf-python msgpack joblib threadpoolctl tqdm filelock mda-xdrlib packaging
    export STRATA_TEST_SLURM=${STRATA_TEST_SLURM:-$STRATA_BUILDS/test-slurm}
}
