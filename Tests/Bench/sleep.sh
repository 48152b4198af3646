# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# How long leaving what is offered keeps a machine from sleep. To be sourced after figures.sh.

# sleeps COUNT: so many times.
sleeps() {
    local ratio median longest echo
    [[ -d $folder/peers ]] || make_certificates
    begin_section "before sleep" "Leaving 128 KiB with eight devices, $1 times."
    read -r _ ratio median longest echo < <(
        HANDOFF_BINARIES="$binaries" timeout 600 /usr/bin/python3 "$source/Tests/Bench/sleep.py" "$1" \
            "$folder/peers-of-bench" "$folder"/peers/{1..8} 2>>"$folder/sleep"
    ) || fail "nothing was left: $(tail -n 1 "$folder/sleep")"
    row "from PrepareForSleep until eight devices have 128 KiB each: median" "$median" ms "$ratio" 3
    row "from PrepareForSleep until the machine may sleep: longest" "$longest" ms - 150
    row "the same bytes over GLib's TLS, each connection answering with one: median" "$echo" ms 1.00 -
}
