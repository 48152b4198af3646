// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffInterfaces
package import HandoffStatus
package import MainLoop

/// The desktop's search: that of GNOME Shell, and KRunner. Both start the agent when they ask.
@MainLoop
package final class SearchSurface: Surface {
    private let bus: Bus
    private let index: OfferIndex
    private let provider: SearchProvider
    private let runner: KRunnerRunner

    /// A search on `bus`, for applications that look as `faces` knows.
    package init(on bus: Bus, _ actions: any AgentActions, _ faces: any ApplicationFaces) {
        self.bus = bus
        index = OfferIndex(faces)
        provider = SearchProvider(index, actions)
        runner = KRunnerRunner(index, actions)
    }

    package func begin() {
        bus.connection.objects.export(HandoffNames.agentSearchProvider, [SearchProvider2Binding(provider)])
        bus.connection.objects.export(HandoffNames.agentRunner, [RunnerBinding(runner)])
    }

    package func update(_ report: StatusReport) { index.update(report) }
}
