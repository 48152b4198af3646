# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a link by a carrier costs. To be sourced after figures.sh.

# carriers COUNT SECONDS: so many streams and continuations, and so long at rest.
carriers() {
    local ratio ours alone carried direct woken private
    begin_section "carriers" "$1 streams through ssh, $1 continuations over a slow link, $2 s at rest."
    if ! read -r _ ratio ours alone carried direct woken private < <(
        HANDOFF_BINARIES="$binaries" timeout 600 /usr/bin/python3 "$source/Tests/Bench/carry.py" "$1" "$2" 2>>"$folder/carry"
    ); then
        unmeasured "a stream through ssh" MB/s ">=0.8" "$(tail -n 1 "$folder/carry")"
        return
    fi
    row "a stream through ssh: median" "$ours" MB/s "$ratio" ">=0.8"
    row "the same bytes through ssh alone: median" "$alone" MB/s 1.00 -
    row "Continue over a carrier with 40 ms of delay each way, beyond a direct link with the same" \
        "$(calculated "$carried - $direct")" "round trips" - 1.5
    row "Continue over that direct link: median" "$direct" "round trips" - -
    row "wake-ups of the daemons of two machines and of the carrier in $2 s at rest" "$woken" "" - 0
    row "private memory of handoff carry --all" "$private" MiB - 1.5
}
