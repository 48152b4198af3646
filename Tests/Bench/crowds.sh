# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# What many clients, hoarders, disturbers and a peer that floods do. To be sourced after figures.sh.

hoards() {
    local payload grown left
    begin_section "many clients" "Hoarding at a broker."
    make hoarded
    start "$binaries/handoffd"
    pids[hoarded,broker]=$!
    owned org.example.Handoff
    read -r _ payload grown left < <(run hoard 10 4 "${pids[hoarded,broker]}") || fail "nobody has hoarded"
    row "40 connections of 10 processes: payload" "$payload" MiB - 64
    row "40 connections of 10 processes: memory for it" - - "$grown" 2
    row "40 connections of 10 processes: left when gone" "$left" % - 10
}

crowds() {
    local crowded types per_client per_activity per_creation before
    begin_section "many clients" "Crowding and disturbing a broker."
    # One of its own: what is left of a crowd is not to count for the others.
    make crowded
    start "$binaries/handoffd"
    crowded=$!
    owned org.example.Handoff
    start "$folder/bench" echo
    owned org.example.Echo
    # The first crowd takes what all later ones use again.
    read -r _ per_client per_activity per_creation < <(run crowd 100 64 "$crowded") || fail "there is no crowd"
    before=$(memory Private_Dirty "$crowded")
    run crowd 100 64 "$crowded" >/dev/null
    read -r _ types < <(run types 1000) || fail "there are no types"
    row "registering 1,000 types on 4 connections" "$types" ms - -
    row "100 clients: private memory a client" "$per_client" KiB - -
    row "64 activities each: private memory besides 1 KB each" "$per_activity" KiB - 2
    row "64 activities each: CreateActivity" "$per_creation" ms - -
    row "broker: growth by a second such crowd" "$(growth "$before" "$(memory Private_Dirty "$crowded")")" % - 5
    disturbances
}

# disturbed FIGURE AIM COMMAND…: what a program does to the slowest calls of another client.
disturbed() {
    local ratio slowest
    read -r _ ratio _ slowest _ quiet < <(run disturbed $((blocks / 4 + 1)) 1000 "${@:3}") ||
        fail "“${*:3}” disturbed nobody"
    row "$1" "$slowest" ms "$ratio" "$2"
}

disturbances() {
    local before quiet spam=(dbus-test-tool spam --ignore-errors --count=1000000000)
    before=$(memory Private_Dirty "$crowded")
    disturbed "Update beside spam: 99 %" 3 "${spam[@]}" --dest=org.example.Handoff
    row "Update alone: 99 %" "$quiet" ms 1.00 -
    disturbed "Update beside ten calls of spam at a time: 99 %" - "${spam[@]}" --queue=10 --dest=org.example.Handoff
    disturbed "Update beside the same spam for the echo: 99 %" - "${spam[@]}" --queue=10 --dest=org.example.Echo
    disturbed "Update with a black hole for a bridge: 99 %" 3 \
        dbus-test-tool black-hole --no-read --name=org.example.Handoff.Bridge
    row "broker: growth by spam and black hole" "$(growth "$before" "$(memory Private_Dirty "$crowded")")" % - 5
}

# flooded WHAT: measures the user's calls and continuations while a peer sends that as fast as it can.
flooded() {
    local id median slowest
    coproc flood { exec setpriv --pdeathsig TERM /usr/bin/python3 "$source/Tests/EndToEnd/flood.py" \
        "$1" "$port_of_origin" "${ids[origin]}" 0123456789abcdef0123456789abcdef 2>>"$home/log"; }
    children+=("$flood_PID")
    read -r id <&"${flood[0]}" || fail "there is no peer that floods"
    tell Trust "$id" flood
    echo >&"${flood[1]}"
    read -r _ <&"${flood[0]}" || fail "the peer that floods is not linked"
    echo >&"${flood[1]}"
    read -r _ median slowest < <(run user $((blocks * 10))) || fail "the user is not served"
    row "user's calls while a peer floods ($1): median" "$median" ms - -
    row "user's calls while a peer floods ($1): 99 %" "$slowest" ms - 100
    read -r _ _ median _ < <(run continuations "$((blocks / 4 + 1))" 10) || fail "nothing continues under a flood"
    row "Continue while another peer floods ($1)" "$median" ms "$(calculated "$median / $quiet_continue")" 3
    echo >&"${flood[1]}"
    wait "$flood_PID" || fail "the peer that floods was cut off"
    gdbus call --session --timeout 10 --dest org.example.Handoff.Bridge --object-path \
        "/org/example/Handoff/Bridge/devices/$id" --method org.example.Handoff.Device.Unpair >/dev/null ||
        fail "the peer that floods cannot be unpaired"
}

floods() {
    local port_of_origin median slowest quiet_continue what
    begin_section "a peer that floods" "Flooding the origin by a third peer."
    between origin target
    port_of_origin=$(told Port)
    read -r _ median slowest < <(run user $((blocks * 10)))
    row "user's calls in peace: median" "$median" ms - -
    row "user's calls in peace: 99 %" "$slowest" ms - -
    read -r _ _ quiet_continue _ < <(run continuations "$((blocks / 4 + 1))" 10) || fail "nothing continues"
    for what in nested fetches small; do flooded "$what"; done
}
