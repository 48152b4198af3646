// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffBroker
internal import HandoffDaemon
internal import HandoffInterfaces

exit(
    DaemonProgram.run(
        "handoffd", name: HandoffNames.broker,
        summary: "The broker of Handoff: keeps the activities of applications for other devices to continue.",
        export: { bus, _ in
            let broker = try Broker(bus)
            broker.export()
            return broker
        },
        begin: { $0.begin() },
        settle: { await $0.settle() }))
