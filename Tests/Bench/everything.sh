# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# What it costs to list and to continue all that is open. To be sourced after figures.sh.

# everything COUNT: so many times.
everything() {
    local ratio several one cost
    begin_section "everything that is open" "$1 times six activities of applications in Python that run, and $1 lists."
    if ! read -r _ ratio several one cost < <(
        HANDOFF_BINARIES="$binaries" timeout 600 /usr/bin/python3 "$source/Tests/Bench/everything.py" "$1" 2>>"$folder/everything"
    ); then
        unmeasured "six activities by ContinueAll" ms "<=2.5" "$(tail -n 1 "$folder/everything")"
        return
    fi
    row "six activities by ContinueAll: median" "$several" ms "$ratio" "<=2.5"
    row "one activity by Continue: median" "$one" ms 1.00 -
    row "processor time of the origin for a list of 24 activities: median" "$cost" ms - 1
}
