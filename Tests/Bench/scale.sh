# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# What calls, offers and continuations cost with more peers and with more activities. To be sourced after figures.sh.

# with WHAT COUNT: rows of what it costs between the machines that are now, with so many peers.
with() {
    local lines cost aim=- memory_aim=-
    run update $((blocks / 5)) 200 >"$folder/lines"
    read -r _ ratio median _ <"$folder/lines"
    row "Activity.Update, $1" "$median" ms "$ratio" -
    mapfile -t lines < <(run becoming $((blocks / 5)) 6 "${pids[$pair,bridge]}")
    [[ ${#lines[@]} -eq 2 ]] || fail "nothing became current with $1"
    read -r _ ratio median _ <<<"${lines[0]}"
    row "becoming current until a peer sees it, $1" "$median" ms "$ratio" -
    [[ $2 -lt 60 ]] || aim=40 memory_aim=18
    read -r _ cost <<<"${lines[1]}"
    row "bridge: processor time a peer for it, $1" "$(calculated "$cost / $2")" µs - "$aim"
    read -r _ ratio median _ < <(run continuations $((blocks / 5)) 10) || fail "nothing continues with $1"
    row "Continue until ContinueActivity, $1" "$median" ms "$ratio" -
    [[ $2 -eq 1 ]] || row "bridge: resident memory, $1" "$(memory Rss "${pids[$pair,bridge]}")" MiB - "$memory_aim"
}

# filled COUNT: the broker of the origin has so many activities besides.
filled() {
    local output
    coproc filler { exec setpriv --pdeathsig TERM "$folder/bench" fill "$1" 2>>"$home/log"; }
    children+=("$filler_PID")
    read -r -t 120 output <&"${filler[0]}" && [[ $output == full ]] || fail "there are no $1 activities"
    with "$1 activities" 1
    row "broker: resident memory, $1 activities" "$(memory Rss "${pids[$pair,broker]}")" MiB - -
    eval "exec ${filler[1]}>&-"
    wait "$filler_PID" || fail "the activities have not gone"
}

# crowded COUNT: so many peers are linked with the origin, one of which is the target.
crowded() {
    local output certificates=() number
    for ((number = 1; number < $1; number++)); do certificates+=("$folder/peers/$number"); done
    # shellcheck disable=SC2154
    coproc peers { exec setpriv --pdeathsig TERM "$folder/peers-of-bench" "$port_of_pair" "${ids[$pair]}" \
        "${certificates[@]}" 2>>"$home/log"; }
    children+=("$peers_PID")
    read -r -t 120 output <&"${peers[0]}" && [[ $output == linked ]] || fail "there are no $1 peers"
    with "$1 peers" "$1"
    eval "exec ${peers[1]}>&-"
    wait "$peers_PID" || fail "the peers have not gone"
}

make_certificates() {
    local number
    mkdir -- "$folder/peers"
    for ((number = 1; number < 62; number++)); do
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj /CN=handoff \
            -keyout "$folder/key" -out "$folder/certificate" 2>/dev/null
        cat -- "$folder/certificate" "$folder/key" >"$folder/peers/$number"
    done
}

# scale BUS
scale() {
    local pair="scaled-$1" port_of_pair mark=${#children[@]} reason
    bus="$1"
    begin_section "with more peers and activities, under $bus" "Measuring with more activities and peers, under $bus."
    reason="$(missing_bus "$bus")"
    if [[ -n $reason ]]; then
        unmeasured "all of these" "" - "$reason"
        return
    fi
    [[ -d $folder/peers ]] || make_certificates
    link_machines "$pair" "far-$1"
    port_of_pair=$(told Port)
    start "$folder/bench" echo
    owned org.example.Echo
    with "1 peer, 1 activity" 1
    filled 100
    filled 5000
    crowded 10
    crowded 62
    end_since "$mark"
    bus=dbus-daemon
}
