# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# KDE Connect on two machines that a veth pair joins, beside Handoff, since it talks to whoever is on the network. To be
# sourced after figures.sh.

daemons=()
declare -A device=()

# What has not been measured beside KDE Connect, and why; nothing if there is no reason.
find_kdeconnect() {
    without_kdeconnect=
    kdeconnectd=$(find /usr/lib /usr/libexec -name kdeconnectd -type f -perm /u+x 2>/dev/null | head -n 1 || true)
    [[ -n $kdeconnectd ]] || without_kdeconnect="KDE Connect is not installed"
    [[ $EUID -eq 0 ]] || without_kdeconnect="only root can make network namespaces"
    [[ -n $without_kdeconnect ]] || make_network || without_kdeconnect="no network namespace can be made"
    [[ -z $without_kdeconnect ]] || echo "Not measured: $without_kdeconnect." >&2
}

# Two namespaces, each for the machines of one side.
networks=()
make_network() {
    local side
    declare -gA addresses=([origin]=10.213.77.1 [target]=10.213.77.2)
    trap clear_away EXIT
    for side in origin target; do
        ip netns add "handoff-$$-$side" 2>/dev/null || return 1
        networks+=("handoff-$$-$side")
    done
    ip -netns "${networks[0]}" link add veth0 type veth peer name veth0 netns "${networks[1]}" 2>/dev/null || return 1
    for side in origin target; do
        ip -netns "handoff-$$-$side" address add "${addresses[$side]}/24" broadcast + dev veth0
        ip -netns "handoff-$$-$side" link set lo up
        ip -netns "handoff-$$-$side" link set veth0 up
        # Without one nothing is broadcast to all.
        ip -netns "handoff-$$-$side" route add default dev veth0
    done
}

clear_away() {
    local network
    stop_kdeconnect
    finish
    for network in "${networks[@]}"; do ip netns del "$network" 2>/dev/null || true; done
}

# try SECONDS COMMAND…: repeats a command until it succeeds.
try() {
    local end=$((SECONDS + $1))
    until "${@:2}" >/dev/null 2>&1; do
        ((SECONDS <= end)) || return 1
        sleep 0.05
    done
}

has_ended() { [[ ! -e /proc/$1 || $(</proc/"$1"/stat) == *") Z "* ]]; }

stop_kdeconnect() {
    local process
    for process in "${daemons[@]}"; do
        kill "$process" 2>/dev/null || true
        # At its end it may get stuck as well.
        try 3 has_ended "$process" || kill -KILL "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    daemons=()
}

call_kdeconnect() {
    gdbus call --session --timeout 5 --dest org.kde.kdeconnect --object-path "/modules/kdeconnect${1:+/devices/$1}" \
        --method "${@:2}"
}

# shares DEVICE: whether something can be sent to it now.
shares() {
    gdbus introspect --session --dest org.kde.kdeconnect --object-path "/modules/kdeconnect/devices/$1/share" |
        grep -q shareUrl
}

# sees DEVICE: asks again who is there, which is answered by UDP and may get lost.
sees() {
    call_kdeconnect "" org.kde.kdeconnect.daemon.forceOnNetworkChange
    sleep 0.2
    call_kdeconnect "" org.kde.kdeconnect.daemon.devices true false | grep -q "$1"
}

# start_kdeconnect ORIGIN TARGET: its daemon anew on both machines, paired. Three times at most: answers get lost.
start_kdeconnect() {
    local attempt
    for attempt in 1 2 3; do
        ! try_kdeconnect "$1" "$2" || return 0
        stop_kdeconnect
    done
    return 1
}

try_kdeconnect() {
    local machine
    stop_kdeconnect
    for machine in "$2" "$1"; do
        become "$machine"
        # If only one of them took the other for paired, they would never be.
        rm -rf -- "$home/config/kdeconnect"
        # It writes the texts that it gets where it is.
        HOME="$home" QT_QPA_PLATFORM=offscreen setpriv --pdeathsig TERM env -C "$home" \
            ip netns exec "${namespaces[$machine]}" "$kdeconnectd" >>"$home/log" 2>&1 </dev/null &
        daemons+=("$!")
        try 10 call_kdeconnect "" org.kde.kdeconnect.daemon.selfId || return 1
        device[$machine]=$(call_kdeconnect "" org.kde.kdeconnect.daemon.selfId | sed -E "s/.*'(.*)'.*/\1/")
    done
    try 10 sees "${device[$2]}" && try 10 pairs "$1" "$2"
}

# pairs ORIGIN TARGET: pairs the two unless they are.
pairs() {
    become "$1"
    ! shares "${device[$2]}" || return 0
    call_kdeconnect "${device[$2]}" org.kde.kdeconnect.device.requestPair
    try 5 accepts "$1" "$2"
}

# accepts ORIGIN TARGET: whether they are paired, as soon as the target is asked and accepts.
accepts() {
    become "$2"
    call_kdeconnect "${device[$1]}" org.kde.kdeconnect.device.acceptPairing
    become "$1"
    shares "${device[$2]}"
}

# Texts

text_figures=("becoming current until the peer sees it" "Continue until ContinueActivity, with WillSave")
text_aims=(1.0 1.2)

no_texts() {
    local index
    unmeasured "KDE Connect: shareText until shareReceived" ms - "$1"
    for index in 0 1; do unmeasured "${text_figures[index]}" ms "${text_aims[index]}×" "$1"; done
}

# texts BUS: what handoffs take beside texts under that bus. Both daemons on both machines are left running.
texts() {
    local index attempt lines=() reason ratio median text
    bus="$1"
    begin_section "beside KDE Connect, under $bus" "Continuing beside KDE Connect, which sends texts, under $bus."
    reason="$(missing_bus "$bus")"
    reason="${reason:-$without_kdeconnect}"
    if [[ -n $reason ]]; then
        no_texts "$reason"
        return
    fi
    for index in origin target; do
        namespaces[$index-$bus]="handoff-$$-$index"
        hosts[$index-$bus]="${addresses[$index]}"
    done
    link_machines "origin-$bus" "target-$bus"
    # It gets stuck now and then.
    for attempt in 1 2; do
        start_kdeconnect "origin-$bus" "target-$bus" || break
        between "origin-$bus" "target-$bus"
        mapfile -t lines < <(
            timeout 45 "$folder/bench" texts $((blocks / 5 + 1)) 12 "${device[target-$bus]}" 2>>"$home/log"
        )
        [[ ${#lines[@]} -ne 2 ]] || break
    done
    if [[ ${#lines[@]} -ne 2 ]]; then
        [[ ${#daemons[@]} -gt 0 ]] && reason="KDE Connect got stuck" || reason="KDE Connect could not be paired"
        no_texts "$reason"
        return
    fi
    for index in 0 1; do
        read -r _ ratio median _ text _ <<<"${lines[index]}"
        if [[ $index == 0 ]]; then
            row "KDE Connect: shareText until shareReceived" "$text" ms 1.00 -
        fi
        row "${text_figures[index]}" "$median" ms "$ratio" "${text_aims[index]}"
    done
}

# Files, between the machines under dbus-daemon

# complete COPY: it is, and goes.
complete() {
    cmp -- "$file" "$1" >&2 || fail "what has arrived is not what was sent"
    rm -- "$1"
}

by_handoff() {
    between origin-dbus-daemon target-dbus-daemon
    timeout 60 "$folder/streams" send "$file" "$copy" 2>>"$home/log" || fail "no file could be sent through a stream"
    complete "$copy"
}

# Until it has got stuck three times in all, with the connection or in the middle of a file.
by_kdeconnect() {
    local speed
    for ((; stuck < 3; stuck++)); do
        if ((${#daemons[@]} > 0)) || start_kdeconnect origin-dbus-daemon target-dbus-daemon; then
            become origin-dbus-daemon
            rm -f -- "$received"*
            if speed=$("$folder/streams" share "${device[target-dbus-daemon]}" "$file" "$received" \
                $((5 + file_size / 25)) 2>>"$home/log"); then
                complete "$received"
                echo "$speed" >"$folder/speed"
                return
            fi
        fi
        stop_kdeconnect
    done
    return 1
}

# send_files COUNT: both are warm after the first. Prints nothing; $folder/speeds has both speeds of each, fewer than that
# if KDE Connect got stuck, but one at least.
send_files() {
    local transfer handoff stuck=0
    # What is random is not compressed by anybody.
    head -c "$((file_size * 1000000))" /dev/urandom >"$file"
    for ((transfer = 0; transfer <= $1; transfer++)); do
        handoff=$(by_handoff) || fail "no file could be sent through a stream"
        by_kdeconnect || break
        ((transfer == 0)) || echo "$handoff $(<"$folder/speed")" >>"$folder/speeds"
    done
    [[ -s $folder/speeds ]]
}

# median_of EXPRESSION: of what it is for awk on each line of the speeds.
median_of() {
    awk "{ print $1 }" "$folder/speeds" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

files() {
    local file="$memory/file" copy="$memory/copy" file_size=500
    local received="$memory/downloads-target-dbus-daemon/file" reason="$without_kdeconnect"
    begin_section "files, beside KDE Connect" "Sending a file through a stream and by KDE Connect."
    [[ -n $reason || ${device[origin-dbus-daemon]-} ]] || reason="KDE Connect could not be paired"
    [[ -n $reason ]] || send_files $((blocks / 10 + 1)) || reason="KDE Connect got stuck three times"
    rm -f -- "$file" "$copy"
    if [[ -n $reason ]]; then
        unmeasured "500 MB between namespaces, through a stream" MB/s ">=5×" "$reason"
        return
    fi
    row "500 MB between namespaces, through a stream" "$(median_of '$1')" MB/s \
        "$(median_of '$1 / $2' | awk '{ printf "%.2f", $1 }')" ">=5"
    row "500 MB between namespaces, by KDE Connect" "$(median_of '$2')" MB/s 1.00 -
}
