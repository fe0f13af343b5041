# System packages, where apt is there and may be used: as root, or with a sudo that asks nothing. STRATA_NO_APT=1 forbids it.

may_use_apt() {
    [[ -z ${STRATA_NO_APT:-} ]] && command -v apt-get >/dev/null && { ((EUID == 0)) || sudo -n true 2>/dev/null; }
}

# apt_install PACKAGE...: one call; the lists are fetched only when they do not know a package.
apt_install() {
    local sudo=()
    ((EUID == 0)) || sudo=(sudo -n)
    local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300)
    local install=("${apt[@]}" install --no-install-recommends "$@")
    logged "${install[@]}" || { logged "${apt[@]}" update && logged "${install[@]}"; }
}

# system_packages PIECE...
system_packages() {
    local piece packages=()
    for piece; do
        contains "${STRATA_IGNORE_SYSTEM:-} ${STRATA_WITHOUT:-}" "$piece" && continue
        packages+=(${piece_debian[$piece]})
        # Of a Python that is not the system's usual one.
        [[ $piece != python || -z $python_lacks ]] || ! apt-cache show "python${python_lacks##* }-venv" >/dev/null 2>&1 ||
            packages+=("python${python_lacks##* }-venv")
    done
    ((${#packages[@]} == 0)) || apt_install "${packages[@]}" || say "apt could not install: ${packages[*]} (see $strata_log)"
}

# How long apt was downloading in this set-up, by its own words: "Fetched 57.1 MB in 1min 3s (904 kB/s)".
apt_seconds() {
    sed -n 's/^Fetched .* in \(.*s\) (.*/\1/p' "$strata_log" |
        awk '{ for (i = 1; i <= NF; i++) { n = $i + 0; s += $i ~ /h$/ ? 3600 * n : $i ~ /min$/ ? 60 * n : n } } END { print s + 0 }'
}
