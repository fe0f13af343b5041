# The virtual environment of the Python side. It is complete when its file `complete` holds the requirements that pyproject.toml
# asks for: that is written last, so what was interrupted is made again.

# requirements GROUP...: what pyproject.toml asks for, one a line; the group `project` is its dependencies proper.
requirements() {
    "$base_python" - "$STRATA_ROOT/pyproject.toml" "$@" <<'PYTHON'
import sys, tomllib

project = tomllib.load(open(sys.argv[1], "rb"))["project"]
groups = {"project": project["dependencies"], **project["optional-dependencies"]}
print("\n".join(line for group in sys.argv[2:] for line in groups[group]))
PYTHON
}

# make_environment FOLDER GROUP...
make_environment() {
    local folder=$1 wanted lines
    shift
    wanted=$(requirements "$@") || return
    if [[ $(cat -- "$folder/complete" 2>/dev/null) == "$wanted" ]]; then
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
        "$("$base_python" -c 'import sys, platform, hashlib
text = repr((sys.version, sys.executable, platform.machine(), platform.libc_ver()))
print("%d.%d-%s" % (*sys.version_info[:2], hashlib.sha256(text.encode()).hexdigest()[:8]))')"
}
