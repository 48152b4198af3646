// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff status`: shows what works, what does not, and what to do about it. It starts nothing.
struct StatusVerb: Verb {
    static let name = "status"
    static let summary = tr("Show what works, what is wrong, and how to fix it; starts nothing")

    init(_ values: ProgramOptions.Values) {}

    /// How long the bridge may take to start. A broker that has just started has the bus start the bridge.
    private static let start = Duration.seconds(3)
    /// How long a daemon may take to answer.
    private static let timeout = Duration.seconds(5)

    func run(in session: Session) async throws -> Int32 {
        let report = try await report(on: session)
        if session.printsJSON {
            try Output.json(report.json)
        } else {
            try Output.lines(report.lines(at: MainLoop.wallClock))
        }
        return report.isWorking ? 0 : 1
    }

    @MainLoop
    private func report(on session: Session) async throws -> StatusReport {
        var report = StatusReport()
        do { _ = try session.bus() } catch {
            report.busFailure = error.message
            return report
        }
        // Whoever has taken its name within a sandbox is none.
        report.isAgentRunning = (try? await session.running(HandoffNames.agent)) != nil
        report.broker = try await look(session, HandoffNames.broker) { try await Self.broker($0) }
        let limit = report.broker.content == nil ? Duration.zero : Self.start
        report.bridge = try await look(session, HandoffNames.bridge, limit) { try await Self.bridge($0) }
        return report
    }

    @MainLoop
    private func look<Content>(
        _ session: Session, _ name: BusName, _ limit: Duration = .zero,
        _ ask: @MainLoop (Daemon) async throws -> Content
    ) async throws -> StatusReport.Daemon<Content> {
        do {
            if let daemon = try await session.running(name) { return .running(try await ask(daemon)) }
            let canStart = try await session.canStart(name)
            guard canStart, limit > .zero, let daemon = try await session.awaited(name, limit) else {
                return .absent(canStart: canStart)
            }
            return .running(try await ask(daemon))
        } catch {
            return .silent(FailureText(summary: CommandFailure(error).message))
        }
    }

    @MainLoop
    private static func broker(_ broker: Daemon) async throws -> BrokerStatus {
        let properties = try await broker.properties(
            ManagerProxy.interface, HandoffNames.brokerPath, timeout: timeout)
        // In a sandbox there are no preferences, and no clipboard.
        let preferences = try? await broker.properties(
            PreferencesProxy.interface, HandoffNames.brokerPath, timeout: timeout)
        let clipboard = try? await broker.properties(
            ClipboardProxy.interface, HandoffNames.brokerPath, timeout: timeout)
        return BrokerStatus(
            objects: try await broker.brokerObjects(timeout: timeout), manager: properties,
            preferences: preferences ?? [:], clipboard: clipboard ?? [:])
    }

    @MainLoop
    private static func bridge(_ bridge: Daemon) async throws -> BridgeStatus {
        let properties = try await bridge.properties(
            BridgeProxy.interface, HandoffNames.bridgePath, timeout: timeout)
        return BridgeStatus(
            objects: try await bridge.managedObjects(HandoffNames.bridgePath, timeout), properties)
    }
}
