# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# What runs all day: the daemons, the agent and the adapters of a machine that is linked, beside KDE Connect. To be
# sourced after figures.sh.

runners=()
# runs NAME COMMAND…: something more that runs all day, once it has its name, if there is one.
runs() {
    runners+=("$1")
    start "${@:3}"
    pids[day,$1]=$!
    [[ -z $2 ]] || owned "$2"
}

# Somebody plays and shows something, so that their adapters have something to wait for.
begin_applications() {
    mkdir -p -- "$home/data/applications"
    printf '[Desktop Entry]\nType=Application\nName=mpv\nExec=mpv %%U\n' >"$home/data/applications/mpv.desktop"
    printf 'Text\n' >"$home/document.txt"
    start bash -c 'exec /usr/bin/python3 "$1" "$2" >"$3"' - "$source/Tests/Bench/applications.py" "$home/document.txt" \
        "$home/applications"
    await "a player and a viewer" grep -q there "$home/applications"
}

begin_day() {
    local name
    link_machines day other-day
    run continue 20
    runners=(broker bridge)
    runs agent org.example.Handoff.Agent "$binaries/handoff-agent"
    begin_applications
    for name in documents media shell; do
        runs "$name" "org.example.Handoff.${name^}" "$binaries/handoff-adapter" "$name"
    done
    (cd -- "$home" && exec "$binaries/handoff" here) >>"$home/log" 2>&1 || fail "no folder was offered"
    # A plugin of an editor keeps its pipe open.
    mkfifo "$folder/editor"
    exec {editor}<>"$folder/editor"
    # shellcheck disable=SC2016
    runs editor "" bash -c 'exec "$1" editor --stdio vim <"$2"' - "$binaries/handoff-adapter" "$folder/editor"
}

# sum COMMAND…: of what it says of each of these processes.
sum() {
    local process
    for process in "${summed[@]}"; do "$@" "$process"; done | awk '{ sum += $1 } END { printf "%.2f\n", sum }'
}

memory_of_day() {
    local name process word private_aim summed=()
    local -A words=([broker]="the broker" [bridge]="the bridge" [agent]="the agent")
    for name in "${runners[@]}"; do
        process="${pids[day,$name]}" word="${words[$name]-adapter $name}" private_aim=2.5
        [[ ! ${words[$name]-} ]] || private_aim=-
        row "$word: private memory" "$(memory Private_Dirty "$process")" MiB - "$private_aim"
        row "$word: resident memory" "$(memory Rss "$process")" MiB - -
    done
    summed=("${pids[day,broker]}" "${pids[day,bridge]}" "${pids[day,agent]}")
    row "both daemons and the agent: private memory" "$(sum memory Private_Dirty)" MiB - 6
    summed=()
    for name in "${runners[@]}"; do summed+=("${pids[day,$name]}"); done
    private=$(sum memory Private_Dirty) resident=$(sum memory Rss)
}

# beside_kdeconnect FIGURE VALUE UNIT AIM COMMAND…: a row of everything, and one of what the command says of KDE
# Connect's daemon, if that runs.
beside_kdeconnect() {
    local other
    if [[ ${#daemons[@]} -eq 0 ]]; then
        row "everything together: $1" "$2" "$3" - "$4"
        unmeasured "KDE Connect's daemon: $1" "$3" - "${without_kdeconnect:-KDE Connect could not be paired}"
        return
    fi
    # The one at the origin.
    other=$("${@:5}" "${daemons[1]}")
    row "everything together: $1" "$2" "$3" - "$4"
    row "KDE Connect's daemon: $1" "$other" "$3" - -
}

# day SECONDS: watches all this, and the machines that were used before, while nothing happens.
day() {
    local name counting summed=()
    begin_section "running all day" "Watching for $1 seconds, while nothing happens, what runs all day."
    begin_day
    between origin target
    start "$folder/bench" hold
    # The threads that GLib keeps after the handshakes end 15 seconds later.
    sleep 20
    for name in "${runners[@]}"; do summed+=("${pids[day,$name]}"); done
    for name in "${runners[@]}"; do [[ -e /proc/${pids[day,$name]} ]] || fail "$name has ended by itself"; done
    watch "${pids[origin,broker]}" "${pids[origin,bridge]}" "${pids[target,broker]}" "${pids[target,bridge]}" \
        "${summed[@]}" "${daemons[@]}"
    # Who counts instructions is not disturbed by anybody, and disturbs nobody who sleeps.
    do_part instructions instructions &
    counting=$!
    sleep "$1"
    row "broker: wake-ups in $1 s of idling" "$(largest "origin target" broker woken)" "" - 0
    row "bridge: wake-ups in $1 s of idling" "$(largest "origin target" bridge woken)" "" - 0
    beside_kdeconnect "wake-ups in $1 s" "$(sum woken | sed 's/\..*//')" "" 0 woken
    memory_of_day
    beside_kdeconnect "private memory" "$private" MiB - memory Private_Dirty
    beside_kdeconnect "resident memory" "$resident" MiB - memory Rss
    wait "$counting" || fail "no instructions were counted"
}
