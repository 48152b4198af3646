# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the daemons execute, which hardly swings. To be sourced after figures.sh.

instructions() {
    local name origin origin_bridge target_bridge target all
    begin_section "instructions" "Counting instructions."
    if ! command -v valgrind >/dev/null; then
        unmeasured "a call of Update, in the broker" "" 90000 "valgrind is not installed"
        unmeasured "becoming current, in both brokers and bridges" "" 600000 "valgrind is not installed"
        unmeasured "a continuation, in both brokers and bridges" "" 1900000 "valgrind is not installed"
        return
    fi
    mkdir -- "$folder/counted"
    "$source/meson-helpers/bench-instructions" --quick "$binaries" >"$folder/instructions" 2>>"$folder/counted/log" ||
        fail "no instructions were counted"
    while read -r name origin origin_bridge target_bridge target all; do
        case $name in
            update) row "a call of Update, in the broker" "$origin" "" - 90000 ;;
            current) row "becoming current, in both brokers and bridges" "$all" "" - 600000 ;;
            continuation) row "a continuation, in both brokers and bridges" "$all" "" - 1900000 ;;
        esac
    done <"$folder/instructions"
}
