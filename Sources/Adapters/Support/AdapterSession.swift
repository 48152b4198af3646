// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffAdapters
internal import HandoffClient
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// `handoff-adapter --session`: starts adapters in a session where there is no agent to do it, for as long as that is so.
///
/// Where the bus knows of an agent, running or not, it ends at once: then that does it.
@MainLoop
final class AdapterSession {
    private let bus: Bus
    private let feed: PreferencesFeed
    private let starter: AdapterStarter
    private let token: RunToken
    private var watch: NameWatch?
    private var sources: [LoopSource] = []

    private init(_ bus: Bus, _ token: RunToken) {
        (self.bus, self.token) = (bus, token)
        feed = PreferencesFeed(on: bus, log: adapterLog)
        starter = AdapterStarter(on: bus, log: adapterLog)
    }

    /// Runs it, and returns the exit status.
    nonisolated static func run() -> Int32 {
        setlocale(LC_CTYPE, "")
        Log.useStandardError()
        guard SessionBus.isKnown else {
            adapterLog.warning("There is no session bus. Start this in a desktop session.")
            return 1
        }
        let token = RunToken()
        let outcome = MainLoop.start { await begin(token) }
        _ = outcome
        MainLoop.run(until: token)
        return MainLoop.assumeIsolated { conclude() }
    }

    /// What runs, and what has kept it from running.
    private static var session: AdapterSession?
    private static var failure: String?

    private static func begin(_ token: RunToken) async {
        do {
            let session = AdapterSession(try Bus(.session), token)
            Self.session = session
            try await session.begin()
        } catch {
            failure = DBusError.converting(error).message
            token.stop()
        }
    }

    private static func conclude() -> Int32 {
        if let bus = session?.bus, !bus.connection.isClosed { bus.leave() }
        guard let failure else { return 0 }
        adapterLog.warning("handoff-adapter cannot run: \(failure)")
        return 1
    }

    private func begin() async throws {
        bus.connection.onClosed = { [token] _ in token.stop() }
        sources = [SIGTERM, SIGINT].map { .signal($0) { [token] in token.stop() } }
        if try await bus.activatableNames().contains(HandoffNames.agent.text) {
            return stop("There is an agent, which starts them when it is needed.")
        }
        watch = bus.watch(HandoffNames.agent) { [weak self] in
            if $0 != nil { self?.stop("There is an agent now, which starts them.") }
        }
        if try await bus.owner(of: HandoffNames.agent) != nil { return }
        feed.onChange = { [weak self] in
            if let self { starter.update(feed.preferences) }
        }
        starter.begin()
        feed.begin()
    }

    private func stop(_ reason: String) {
        adapterLog.debug("Adapters are not started here: \(reason)")
        token.stop()
    }
}
