# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: LGPL-2.1-or-later
# How fast streams are. To be sourced after figures.sh.

streams() {
    local lines ratio speed tls _ bridges=("${pids[target,bridge]}" "${pids[origin,bridge]}")
    begin_section "streams" "Measuring streams, in turn with TLS by GIO and with the echo."
    make_certificate
    program=streams
    mapfile -t lines < <(run throughput $((blocks / 5 + 1)) 512 "$folder/certificate" "${bridges[@]}")
    [[ ${#lines[@]} -eq 4 ]] || fail "no stream was measured"
    read -r _ ratio speed _ tls _ <<<"${lines[2]}"
    row "one stream, application to application" "${speed%.*}" MB/s "$ratio" ">=0.95"
    row "TLS by GIO in C, a socket pair at each end" "${tls%.*}" MB/s 1.00 -
    read -r _ ratio speed _ tls _ <<<"${lines[3]}"
    row "one stream: processor time of both bridges a byte" "$speed" ns "$ratio" -
    row "TLS by GIO in C, the same: processor time of both ends a byte" "$tls" ns 1.00 -
    read -r _ ratio speed _ tls _ <<<"${lines[0]}"
    row "one stream, beside TLS by GIO in the applications" "${speed%.*}" MB/s "$ratio" ">=0.8"
    row "TLS by GIO in C, in the applications" "${tls%.*}" MB/s 1.00 -
    document
    program=bench
    compared "OpenStream until the first byte of the origin" - openings $((blocks / 4)) 20
    reference "echo in C after a rest of 25 ms"
}

document() {
    local ratio document stream cost_ratio cost stream_cost
    { read -r _ ratio document _ stream _ && read -r _ cost_ratio cost _ stream_cost _; } < <(
        run documents $((blocks / 20 + 2)) 1024 "$folder/document.bin" "$memory/downloads-target/Handoff" \
            "${pids[target,broker]}" "${pids[origin,broker]}" "${bridges[@]}"
    ) || fail "no document was brought over"
    rm -f -- "$folder/document.bin"
    row "a document of 1 GiB, hashed, written, handed over" "${document%.*}" MB/s "$ratio" ">=0.6"
    row "one stream in turn with it" "${stream%.*}" MB/s 1.00 -
    row "a document: processor time of the daemons a byte" "$cost" ns "$cost_ratio" -
    row "one stream in turn: the same" "$stream_cost" ns 1.00 -
}

kit() {
    local ratio speed socket
    begin_section "HandoffKit" "Measuring a stream of HandoffKit, in turn with its socket alone."
    if [[ ! -x $source/build/bench/stream-rate ]]; then
        unmeasured "one stream, between two applications of HandoffKit" MB/s ">=0.8×" "stream-rate was not built"
        return
    fi
    read -r _ ratio speed socket < <(timeout 300 "$source/build/bench/stream-rate" $((blocks / 4 + 1)) 1024) ||
        fail "no stream of HandoffKit was measured"
    row "one stream, between two applications of HandoffKit" "${speed%.*}" MB/s "$ratio" ">=0.8"
    row "its socket alone" "${socket%.*}" MB/s 1.00 -
}
