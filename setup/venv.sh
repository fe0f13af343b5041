# The virtual environment of the Python side. It is complete when its file `complete` holds the requirements that pyproject.toml
# asks for: that is written last, so what was interrupted is made again.

# requirements GROUP...: what pyproject.toml asks for, one a line. The group `project` is its dependencies proper but for those
# that come later, which are the group `data`; a group that it does not have asks for nothing.
requirements() {
    "$base_python" -P - "$STRATA_ROOT/pyproject.toml" "$@" <<'PYTHON'
import re, sys, tomllib

document = tomllib.load(open(sys.argv[1], "rb"))
project, later = document["project"], document.get("tool", {}).get("strata", {}).get("later", [])
groups = {"project": [], "data": [], **project["optional-dependencies"]}
for line in project["dependencies"]:
    groups["data" if re.match(r"[\w.-]+", line)[0] in later else "project"].append(line)
print("\n".join(line for group in sys.argv[2:] for line in groups.get(group, [])))
PYTHON
}

# make_environment FOLDER GROUP...: with what the groups ask for, and with what it has already: builds of several kinds share it.
make_environment() {
    local folder=$1 wanted lines line known has
    shift
    wanted=$(requirements "$@") && known=$(requirements project data python dev docs) || return
    has=$(cat -- "$folder/complete" 2>/dev/null)
    while IFS= read -r line; do
        [[ $'\n'$wanted$'\n' == *$'\n'"$line"$'\n'* || $'\n'$known$'\n' != *$'\n'"$line"$'\n'* ]] || wanted+=$'\n'$line
    done <<<"$has"
    if [[ $(sort <<<"$has") == $(sort <<<"$wanted") ]]; then
        touch -- "$folder/complete"
        return
    fi
    if [[ ! -f $folder/complete ]]; then # else: new requirements for an environment that works
        make_venv "$base_python" "$folder" || return
    fi
    mapfile -t lines <<<"$wanted"
    pip_install "$folder/bin/python" "${lines[@]}" || return
    printf '%s\n' "$STRATA_ROOT/python" >"$(echo "$folder"/lib/python3*/site-packages)/strata.pth"
    printf '%s\n' "$wanted" >"$folder/complete.new" && mv -- "$folder/complete.new" "$folder/complete"
}

# venv_folder NAME: environments are kept apart by interpreter and system; several builds of one system share one.
venv_folder() {
    printf '%s/venv-%s-%s' "$STRATA_BUILDS" "$1" \
        "$("$base_python" -P -c 'import sys, platform, hashlib
text = repr((sys.version, sys.executable, platform.machine(), platform.libc_ver()))
print("%d.%d-%s" % (*sys.version_info[:2], hashlib.sha256(text.encode()).hexdigest()[:8]))')"
}
