# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# What starts, calls, offers, continuations and links cost between two machines, "origin" and "target". To be sourced
# after figures.sh.

starts() {
    local broker bridge_start echo
    begin_section "starting" "Measuring how long the daemons take to start."
    make alone
    broker=$(run starts "$starts" org.example.Handoff "$binaries/handoffd")
    bridge_start=$(run starts "$starts" org.example.Handoff.Bridge "${bridge[@]}")
    echo=$(run starts "$starts" org.example.Echo "$folder/bench" echo)
    row "broker: exec to name" "$broker" ms "$(calculated "$broker / $echo")" 2
    row "bridge: exec to name" "$bridge_start" ms - 30
    row "echo in C: exec to name" "$echo" ms 1.00 -
}

# remember MOMENT: what the daemons take now.
declare -A taken
remember() {
    local program kind
    for program in broker bridge; do
        for kind in Private_Dirty Rss; do
            taken[$program,$kind,$1]=$(largest "origin target" "$program" memory "$kind")
        done
    done
}

# memory_rows PROGRAM KIND WORD AIM
memory_rows() {
    local moment aim=-
    for moment in start 100 1,000; do
        # What is true at the end is true before.
        [[ $moment != 1,000 ]] || aim="$4"
        row "$1: $3 memory, ${moment/%0/0 continuations}" "${taken[$1,$2,$moment]}" MiB - "$aim"
    done
}

memory_of_daemons() {
    local daemon aims
    begin_section "memory" "Continuing an activity 1,000 times."
    remember start
    run continue 100
    remember 100
    run continue 900
    remember 1,000
    for daemon in broker bridge; do
        aims=(4 10)
        [[ $daemon == broker ]] || aims=(8 14)
        memory_rows "$daemon" Private_Dirty private "${aims[0]}"
        row "$daemon: growth from 100 to 1,000" \
            "$(growth "${taken[$daemon,Private_Dirty,100]}" "${taken[$daemon,Private_Dirty,1,000]}")" % - 5
        memory_rows "$daemon" Rss resident "${aims[1]}"
    done
}

calls() {
    begin_section "calls, offers and continuations" "Measuring calls, offers and continuations, in turn with the echo."
    compared "Activity.Update" 1.1 update "$blocks" 500
    reference "echo in C"
    compared "BecomeCurrent until the peer sees the offer" 5 offers $((blocks / 2)) 10
    compared "Continue until ContinueActivity has come" 9 continuations "$blocks" 20
    reference "echo in C after the same rest"
    local figures index
    local what=("the target is told that something comes" "the origin is asked to save" "the activity has come"
        "the origin is told that it goes on")
    read -r -a figures < <(run phases $((blocks * 5))) || fail "no continuation was measured"
    for index in 0 1 2 3; do row "a continuation: Continue until ${what[index]}" "${figures[index + 1]}" ms - -; done
}

cold() {
    begin_section "an application that does not run" \
        "Continuing in an application that does not run, in turn with starting it by hand."
    become target
    install_cold_application
    become origin
    compared "cold application: Continue until ContinueActivity" 1.1 cold $((blocks / 8 + 1)) 4
    reference "the same by gdbus, until it has its name"
}

make_certificate() {
    [[ ! -e $folder/certificate ]] || return 0
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj /CN=handoff \
        -keyout "$folder/key" -out "$folder/certificate" 2>/dev/null
    cat -- "$folder/key" >>"$folder/certificate"
}

links() {
    begin_section "links" "Measuring how long it takes from nothing to a link."
    make_certificate
    setpriv --pdeathsig TERM "$folder/links" serve "$folder/certificate" >"$folder/port" 2>>"$home/log" &
    children+=("$!")
    await "the reference" grep -q . "$folder/port"
    welcome
    program=links
    compared "TCP to Hello answered" 1.15 measure $((blocks / 8 + 1)) 6 "$(<"$folder/port")" "$(told Port)" \
        "$folder/certificate"
    program=bench
    reference "TCP and TLS handshake by GIO in C"
    dismiss
}
