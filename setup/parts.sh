# The parts of the native build (parts.csv): the first is built at set-up, each other one when a command first asks for it. What
# a build has is in share/strata/parts of its tree.

declare -A part_seconds part_about
part_names=()

read_parts() {
    local part seconds about programs
    while IFS=, read -r part seconds about programs; do
        [[ $part != part ]] || continue
        part_names+=("$part")
        part_seconds[$part]=$seconds part_about[$part]=$about
    done <"$STRATA_ROOT/setup/parts.csv"
}

# for_tests: asks for all parts but the solvers' twins for valgrind: the solver that the tests simulate has its own in its part.
for_tests() {
    local part
    for part in "${part_names[@]}"; do [[ $part == simulated ]] || asked+=("$part"); done
}

has_part() {
    local part
    while IFS= read -r part; do
        [[ $part != "$1" ]] || return 0
    done 2>/dev/null <"$STRATA_BUILD/current/share/strata/parts"
    return 1
}

has_parts() {
    local part
    for part; do has_part "$part" || return; done
}

# choose_parts PART...: sets `parts` to those of the table that the build has or that are asked for.
choose_parts() {
    local part
    parts=()
    for part in "${part_names[@]}"; do
        [[ $part != first ]] && ! contains "$*" "$part" && ! has_part "$part" || parts+=("$part")
    done
}
