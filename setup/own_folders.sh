# Folders that other users can neither write in nor replace. What is installed or run from a folder is code; below /tmp, and wherever
# else many may write, anybody can have made a folder of any name first.

# steps_to PATH: sets `steps` to all that the kernel looks at on the way to an absolute path: folders, links, and what these lead to.
steps_to() {
    local at='' todo=${1#/} part target links=0
    steps=(/)
    while [[ -n $todo ]]; do
        part=${todo%%/*}
        if [[ $todo == */* ]]; then todo=${todo#*/}; else todo=; fi
        case $part in
        '' | .) continue ;;
        ..)
            at=${at%/*}
            continue
            ;;
        esac
        steps+=("$at/$part")
        if [[ -L $at/$part ]] && ((++links <= 40)); then # as many as the kernel follows
            target=$(readlink -- "$at/$part")
            [[ $target != /* ]] || at=
            todo=$target/$todo
        else
            at+=/$part
        fi
    done
}

# own_folder FOLDER [USER]: whether no other user than root, this one and USER can write in a folder or put another one in its place; else
# REPLY says how. What is not there yet is left out. In the folder itself nobody else may write, in those above it only where they are
# sticky.
own_folder() {
    local steps step i=0 user mode others unmapped='' trusted=" 0 $EUID ${2:-} "
    [[ $(tr -s ' ' </proc/self/uid_map) == ' 0 0 4294967295' ]] || unmapped=$(</proc/sys/kernel/overflowuid) # in a user namespace
    steps_to "$1"
    while read -r user mode; do
        step=${steps[i]} mode=8#$mode others=$((EUID == 0 ? 022 : 002))
        ((++i < ${#steps[@]})) || others=022
        REPLY="$step belongs to user $user"
        [[ $trusted == *" $user "* || ($user == "$unmapped" && $i -lt ${#steps[@]}) ]] || return
        REPLY="others may write in $step"
        [[ -L $step ]] || ((!(mode & others) || (mode & 01000 && i < ${#steps[@]}))) || return
    done < <(stat -c '%u %a' -- "${steps[@]}" 2>/dev/null)
    REPLY="$1 cannot be looked at"
    ((i > 0))
}
