# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# The figures of a benchmark, and where they come from. To be sourced after machines.sh.

# What "run" runs, and the file of the rows, each of which has tabs between what "row" is told, after its section.
program=bench
rows="$folder/rows"
section=

# begin_section TITLE WHAT: the rows from here on are under that title; what is done now is said, and when, in
# seconds since it began.
begin_section() {
    section="$1"
    printf "%4d s  %s\n" "$SECONDS" "$2" >&2
}

# row FIGURE VALUE UNIT RATIO AIM [NOTE]: the aim is one for the ratio if there is one, at most that or, as in ">=0.8",
# at least; "-" for what does not exist, as a value for what cannot be measured here, whose note says why.
row() {
    local what="${4/#-/$2}"
    [[ $what =~ ^(-|-?[0-9.]+)$ ]] || fail "there is no figure for “$1”"
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$section" "$1" "$2" "$3" "$4" "$5" "${6-}" >>"$rows"
}

# unmeasured FIGURE UNIT AIM REASON
unmeasured() { row "$1" - "$2" - "$3" "$4"; }

run() { timeout 300 "$folder/$program" "$@" 2>>"$home/log" || fail "“$*” failed"; }

# compared FIGURE AIM COMMAND BLOCKS SAMPLES…: a row of what the command has measured beside something else, such as the
# echo, in so many blocks of so many samples. What one in a hundred takes is known of a thousand samples and more.
compared() {
    local ratio median slowest
    has_slowest=$(($4 * $5 >= 1000))
    read -r _ ratio median slowest echo_median echo_slowest < <(run "${@:3}") || fail "“${*:3}” measured nothing"
    row "$1: median" "$median" ms "$ratio" "$2"
    if ((has_slowest)); then row "$1: 99 %" "$slowest" ms - -; fi
}

# reference FIGURE: two rows of what it was compared with.
reference() {
    row "$1: median" "$echo_median" ms 1.00 -
    if ((has_slowest)); then row "$1: 99 %" "$echo_slowest" ms - -; fi
}

# calculated EXPRESSION: with two digits.
calculated() { awk "BEGIN { printf \"%.2f\\n\", $1 }"; }

# growth FROM TO: in %.
growth() { awk -v from="$1" -v to="$2" 'BEGIN { printf "%.1f", 100 * (to - from) / from }'; }

# Processes

# memory KIND PROCESS: in MiB.
memory() {
    awk -v kind="$1:" '$1 == kind { printf "%.2f\n", $2 / 1024 }' "/proc/$2/smaps_rollup"
}

# largest MACHINES PROGRAM COMMAND…: of the numbers that the command gives for this program on each machine, the largest.
largest() {
    local machine
    for machine in $1; do "${@:3}" "${pids[$machine,$2]}"; done | sort -n | tail -n 1
}

# The context switches of each thread of a process.
switches() {
    awk '/_switches:/ { count[FILENAME] += $2 } END { for (thread in count) print thread, count[thread] }' \
        /proc/"$1"/task/*/status
}

# watch PROCESS…: from now on, what wakes them is counted.
watch() {
    local process
    for process in "$@"; do switches "$process" >"$folder/switches.$process"; done
}

# woken PROCESS: how often its threads have run since they were watched; one that has ended did once.
woken() {
    switches "$1" | awk 'NR == FNR { before[$1] = $2; next } { woken += $2 - before[$1]; delete before[$1] }
        END { for (thread in before) woken++; print woken + 0 }' "$folder/switches.$1" -
}
