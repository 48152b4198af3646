// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient

/// What the two daemons say, or why they say nothing: what there is to show of Handoff in this session.
package struct StatusReport: Equatable, Sendable {
    /// The state of a daemon.
    package enum Daemon<Content: Equatable & Sendable>: Equatable, Sendable {
        /// It answers.
        case running(Content)
        /// It owns its name but does not answer as it should, for this reason.
        case silent(FailureText)
        /// It is not running. `canStart` says whether the bus knows how to start it.
        case absent(canStart: Bool)

        /// What it says, if it answers.
        package var content: Content? {
            if case .running(let content) = self { content } else { nil }
        }
    }

    /// Why there is no session bus, nil if there is one.
    package var busFailure: String?
    /// The broker.
    package var broker: Daemon<BrokerStatus> = .absent(canStart: false)
    /// The bridge.
    package var bridge: Daemon<BridgeStatus> = .absent(canStart: false)
    /// Whether the agent is known to run, which brings the broker the clipboard of the desktop.
    package var isAgentRunning = false

    /// A report of a session without daemons.
    package init(
        busFailure: String? = nil, broker: Daemon<BrokerStatus> = .absent(canStart: false),
        bridge: Daemon<BridgeStatus> = .absent(canStart: false)
    ) {
        self.busFailure = busFailure
        self.broker = broker
        self.bridge = bridge
    }

    /// Whether both daemons answer.
    package var isWorking: Bool { broker.content != nil && bridge.content != nil }

    /// Whether the clipboard may go between devices, but nothing reaches that of this desktop although the agent runs.
    package var lacksClipboard: Bool {
        guard isAgentRunning, let broker = broker.content, broker.isEnabled, broker.clipboardDesktop == ""
        else { return false }
        return !["", "off"].contains(broker.preferences.text("Clipboard"))
    }

    /// The paired devices.
    package var peers: [KnownDevice] { bridge.content?.devices.filter(\.isPaired) ?? [] }
}
