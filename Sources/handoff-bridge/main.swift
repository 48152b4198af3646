// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffBridge
internal import HandoffDaemon
internal import HandoffInterfaces
internal import Platform

ProcessEnvironment.prepare()
exit(
    DaemonProgram.run(
        "handoff-bridge", name: HandoffNames.bridge,
        summary: "The bridge of Handoff: connects this device with the user's other devices.",
        options: [
            .init("listen", value: "ADDRESS:PORT", "Listen here instead of everywhere; port 0 picks one"),
            .init("no-discovery", value: nil, "Neither announce this device nor look for others"),
        ],
        export: { bus, values in
            var options = try BridgeOptions()
            if let address = values["listen"] { try options.listen(at: address) }
            options.discovers = !values.has("no-discovery")
            let bridge = try Bridge(bus, options)
            bridge.export()
            return bridge
        },
        begin: { try $0.begin() },
        end: { $0.end() }))
