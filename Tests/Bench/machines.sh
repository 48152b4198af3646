# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Machines of a benchmark: each has a session bus, folders and daemons of its own. To be sourced, with the folder of the
# release binaries in $binaries. What is left is cleared away at the end of the script.

folder="$(mktemp -d)"
# For documents that are received, which are not to be measured by how fast a disk is.
memory="$(mktemp -d -p /dev/shm 2>/dev/null)" || memory="$folder"
children=()
# end_since COUNT: ends all children but the first so many, the newest first, so that the buses go last.
end_since() {
    local index
    for ((index = ${#children[@]} - 1; index >= $1; index--)); do
        kill "${children[index]}" 2>/dev/null || true
        wait "${children[index]}" 2>/dev/null || true
        unset "children[index]"
    done
}
finish() {
    end_since 0
    rm -rf -- "$folder" "$memory"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

fail() {
    echo "${0##*/}: $*" >&2
    for log in "$folder"/*/log; do
        [[ ! -s $log ]] || tail -n 15 -- "$log" | sed 's/^/    /' >&2
    done
    exit 1
}

# Machines

# become MACHINE: what is run next is run as the user of that machine.
become() {
    home="$folder/$1"
    export DBUS_SESSION_BUS_ADDRESS="unix:path=$home/bus" DBUS_SYSTEM_BUS_ADDRESS="unix:path=$home/no-system-bus"
    export XDG_CONFIG_HOME="$home/config" XDG_STATE_HOME="$home/state" XDG_DATA_HOME="$home/data"
    export XDG_CACHE_HOME="$home/cache" XDG_RUNTIME_DIR="$home/runtime" XDG_DATA_DIRS="$home/share"
}

# start COMMAND…: runs a command until the end. Its process is the last of the children.
start() {
    setpriv --pdeathsig TERM "$@" >>"$home/log" 2>&1 </dev/null &
    children+=("$!")
}

# await WHAT COMMAND…: repeats a command until it succeeds, ten seconds at most.
await() {
    local what="$1" end=$((SECONDS + 10))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS <= end)) || fail "$what: not within ten seconds"
        sleep 0.05
    done
}

owned() {
    await "$1" gdbus call --session --timeout 5 --dest org.freedesktop.DBus --object-path / \
        --method org.freedesktop.DBus.GetNameOwner "$1"
}

# missing_bus BUS: why it cannot be had here, if it cannot.
missing_bus() {
    if ! command -v "${1/%dbus-broker/dbus-broker-launch}" >/dev/null; then
        echo "$1 is not installed"
    elif [[ $1 == dbus-broker && $EUID -ne 0 && ! -S /run/systemd/journal/socket ]]; then
        echo "dbus-broker wants the journal of systemd, which only root can do without"
    fi
}

# make MACHINE: its folders and its bus, by the program that $bus names.
bus=dbus-daemon
make() {
    become "$1"
    mkdir -m 700 -p -- "$home"/{config/handoff,state,data,cache,runtime,share} "$memory/downloads-$1"
    printf '[Device]\nName=%s\n' "$1" >"$home/config/handoff/handoff.conf"
    printf 'XDG_DOWNLOAD_DIR="%s/downloads-%s"\n' "$memory" "$1" >"$home/config/user-dirs.dirs"
    if [[ $bus == dbus-broker ]]; then
        start /usr/bin/python3 "${BASH_SOURCE[0]%/*}/dbus_broker.py" "$home/bus"
    else
        start dbus-daemon --session --nofork --nopidfile --address "$DBUS_SESSION_BUS_ADDRESS"
    fi
    owned org.freedesktop.DBus
}

bridge=("$binaries/handoff-bridge" --no-discovery --listen 127.0.0.1:0)

call_bridge() {
    gdbus call --session --timeout 10 --dest org.example.Handoff.Bridge --object-path /org/example/Handoff/Bridge \
        --method "$@"
}

# tell METHOD ARGUMENT…: calls the bridge.
tell() { call_bridge "org.example.Handoff.Bridge.$1" "${@:2}" >/dev/null || fail "$1 failed"; }

# told PROPERTY: a number or an id that the bridge has.
told() {
    call_bridge org.freedesktop.DBus.Properties.Get org.example.Handoff.Bridge "$1" |
        sed -E "s/.*[ ']([0-9a-f]+)['>].*/\1/"
}

# link_machines ORIGIN TARGET: makes them, with both daemons each, whose processes are then in $pids, and links them.
# What is run next is run at the origin. A machine in $namespaces is in that one, with the address in $hosts.
declare -A ids=() pids=() hosts=() namespaces=()
link_machines() {
    local machine
    for machine in "$2" "$1"; do
        make "$machine"
        start "$binaries/handoffd"
        pids[$machine,broker]=$!
        start ${namespaces[$machine]:+ip netns exec "${namespaces[$machine]}"} \
            "$binaries/handoff-bridge" --no-discovery --listen "${hosts[$machine]-127.0.0.1}:0"
        pids[$machine,bridge]=$!
        owned org.example.Handoff
        await "the bridge of $machine" listening
        ids[$machine]=$(told DeviceId)
    done
    tell Trust "${ids[$2]}" target
    port=$(told Port)
    become "$2"
    tell Trust "${ids[$1]}" origin
    tell Connect "${hosts[$1]-127.0.0.1}:$port"
    between "$1" "$2"
}

# between ORIGIN TARGET: what is measured next is measured between these.
between() {
    become "$1"
    export BENCH_ORIGIN="unix:path=$folder/$1/bus" BENCH_TARGET="unix:path=$folder/$2/bus"
}

listening() { [[ $(told Port 2>/dev/null) =~ ^[1-9] ]]; }

welcoming() {
    [[ $(call_bridge org.freedesktop.DBus.Properties.Get org.example.Handoff.Bridge Discoverable) == *true* ]]
}

# welcome: strangers are, for as long as a program that wants them is there.
welcome() {
    start "$binaries/handoff" pair
    pairing="$!"
    await "strangers to be welcome" welcoming
}

# dismiss: strangers are welcome no longer.
dismiss() {
    kill "$pairing"
    wait "$pairing" || true
}
