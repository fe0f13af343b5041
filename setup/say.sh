# What set-up tells the person who waits: one line for each step with what it will cost, details in a log.

strata_log=/dev/null
strata_steps=3
strata_step=0

say() { printf 'strata: %s\n' "$*" >&2; }

# minutes SECONDS
minutes() { if (($1 < 60)); then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi; }

# in_all: the last line of a command that took longer than a second, as the front and the Python side say it.
in_all() { ((SECONDS <= 1)) || printf 'in all %s\n' "$(minutes "$SECONDS")" >&2; }

# step TEXT SECONDS: announces the next step.
step() {
    strata_step=$((strata_step + 1))
    printf '[%d/%d] %s ... about %d s\n' "$strata_step" "$strata_steps" "$1" "$2" >&2
    printf '\n== %s\n' "$1" >>"$strata_log"
}

# logged COMMAND...: output goes to the log.
logged() {
    printf '+ %s\n' "$*" >>"$strata_log"
    "$@" >>"$strata_log" 2>&1
}

# fail MESSAGE [LINE...]: how the log ends, then one error and what to do about it, which are the last lines.
fail() {
    if [[ -s $strata_log ]]; then
        printf 'strata: the log %s ends:\n' "$strata_log" >&2
        tail -n 12 "$strata_log" | sed 's/^/    | /' >&2
    fi
    printf 'strata: error: %s\n' "$1" >&2
    shift
    (($# == 0)) || printf '  %s\n' "$@" >&2
    exit 1
}
