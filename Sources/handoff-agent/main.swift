// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffAgent
internal import HandoffDaemon
internal import HandoffInterfaces
internal import Platform

Translation.begin()
exit(
    DaemonProgram.run(
        "handoff-agent", name: HandoffNames.agent,
        summary: "The agent of Handoff: shows what can be continued here, and asks what has to be asked.",
        export: { bus, _ in
            let agent = Agent(bus)
            agent.export()
            return agent
        },
        begin: { try await $0.begin() },
        end: { $0.end() },
        settle: { await $0.settle() }))
