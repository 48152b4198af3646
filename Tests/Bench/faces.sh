# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# What windows and browsers take, for the benchmark, which has the variables and functions.

faces() {
    local ratio opened
    begin_section "windows and browsers" "Opening windows."
    read -r ratio opened _ < <(exec "$source/meson-helpers/bench-window" "$binaries" "$starts") || fail "no window was opened"
    row "the Handoff window, beside an empty one" "$opened" ms "$ratio" 1.3

    echo "Continuing pages of browsers." >&2
    local browsers=() figures
    command -v chromium >/dev/null && browsers=(chromium)
    mapfile -t figures < <("$source/meson-helpers/bench-page" "$binaries" "$blocks" "${browsers[@]}" |
        sed -n 's/.*median \([0-9.]*\) ms.*/\1/p')
    [[ ${#figures[@]} -eq $((1 + ${#browsers[@]})) ]] || fail "no page was continued"
    row "a page, until the browser is asked to open it" "${figures[0]}" ms - 50
    [[ ${#browsers[@]} -eq 0 ]] || row "a page in Chromium, until it is scrolled alike" "${figures[1]}" ms - 1000
}
