# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# What it costs to paste from another device, and to be ready for that. To be sourced after figures.sh.

# clipboard COUNT: so many times.
clipboard() {
    local small pasted continued large pasted_large continued_large memory wakes
    begin_section "the clipboard" "$1 times 1 KB between played desktops, beside an activity with as much state; less often 30 MB."
    if ! read -r _ small pasted continued large pasted_large continued_large memory wakes < <(
        HANDOFF_BINARIES="$binaries" timeout 600 /usr/bin/python3 "$source/Tests/Bench/clipboard.py" "$1" 2>>"$folder/clipboard"
    ); then
        unmeasured "pasting 1 KB" ms "<=1.5" "$(tail -n 1 "$folder/clipboard")"
        return
    fi
    row "pasting 1 KB from a peer: median" "$pasted" ms "$small" "<=1.5"
    row "continuing an activity with 1 KB: median" "$continued" ms 1.00 -
    row "pasting 30 MB from a peer: median" "$pasted_large" ms "$large" "<=1.2"
    row "continuing a document of 30 MB: median" "$continued_large" ms 1.00 -
    row "memory of the agent for the clipboard of X11" "$memory" KiB - 307
    row "wake-ups of the agent with it, in 10 s" "$wakes" "" - 0
}
