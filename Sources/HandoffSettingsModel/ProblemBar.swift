// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffStatus
internal import Platform

/// What is wrong, in a bar at the top.
package struct ProblemBar: Equatable, Sendable, Identifiable {
    /// What is wrong.
    package let text: String
    /// What to do about it where there is no button for it, or what its button is for; empty if the button says that itself.
    package let remedy: String
    /// What the button does.
    package let mend: Problem.Mend?
    /// What the button says; empty if there is none.
    package let button: String

    /// What distinguishes it from others.
    package var id: String { text }

    /// More at a time would leave no room for anything else.
    private static let most = 3

    /// The bars for what is wrong, the most basic first. What a page says in its own place is left out: that no device is paired,
    /// and, as long as another one is, which devices are not connected.
    static func all(_ report: StatusReport) -> [ProblemBar] {
        let isAlone = !report.peers.contains(where: \.isConnected)
        let problems = report.problems.filter { $0.mend != .pair && ($0.deviceID == nil || isAlone) }
        return problems.prefix(most).map { problem in
            let button = label(problem.mend)
            return ProblemBar(
                text: problem.text, remedy: button.isEmpty || problem.isAboutFinding ? problem.remedy : "",
                mend: problem.mend, button: button)
        }
    }

    private static func label(_ mend: Problem.Mend?) -> String {
        switch mend {
        case .switchOn: tr("Switch On")
        case .startBroker, .startBridge: tr("Start")
        case .pair: tr("Pair a Device…")
        case .connect: tr("Connect by Address…")
        case nil: ""
        }
    }

    /// What the button asks for, if it asks broker, bridge or bus for something.
    package var request: Request? {
        switch mend {
        case .switchOn: PreferencesPage.setEnabled(true)
        case .startBroker: .startBroker
        case .startBridge: .startBridge
        case .pair, .connect, nil: nil
        }
    }
}

extension Problem {
    /// Whether it is that devices are not found, which an address helps with for once, and something else for good.
    fileprivate var isAboutFinding: Bool { mend == .connect && deviceID == nil }
}
