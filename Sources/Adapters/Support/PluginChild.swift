// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffInterfaces
internal import HandoffStatus
package import MainLoop
internal import Platform

/// What an adapter does for an application whose plugin has started it, while the user wants that.
@MainLoop
package protocol PluginSession: AnyObject {
    /// Called when the application itself has learnt Handoff.
    var onSteppedBack: (@MainLoop () -> Void)? { get set }

    /// The user has chosen something: these are the properties of `Preferences`.
    func choose(_ preferences: [String: Value])
    /// Opens what the application was started for, if it was started by the adapter.
    /// - Throws: why that is not shown.
    func openPending(on bus: Bus) async throws
    /// Ends its part.
    func end()
}

/// The part of a plugin that is in Handoff: a child of the application, which ends with it.
@MainLoop
package final class PluginChild<State: PluginState> {
    private let adapter: String
    private let name: String
    private let isExcluded: @MainLoop ([String]) -> Bool
    private let make: @MainLoop (PluginPipe<State>) throws -> any PluginSession
    private nonisolated let token = RunToken()
    private let pipe = PluginPipe<State>()
    private var bus: Bus?
    private var feed: PreferencesFeed?
    private var session: (any PluginSession)?
    /// What the user had chosen when a broker was there last.
    private var preferences: [String: Value] = [:]

    private init(
        _ adapter: String, _ name: String, _ isExcluded: @escaping @MainLoop ([String]) -> Bool,
        _ make: @escaping @MainLoop (PluginPipe<State>) throws -> any PluginSession
    ) {
        (self.adapter, self.name, self.isExcluded, self.make) = (adapter, name, isExcluded, make)
    }

    /// Runs for an application until that ends.
    /// - Parameters:
    ///   - adapter: what `DisabledAdapters` calls the adapter.
    ///   - name: what people call the application.
    ///   - isExcluded: whether these `ExcludedApplications` keep Handoff out of the whole application.
    ///   - make: begins its part, for the plugin at the other end of the pipe.
    /// - Returns: the exit status. That there is no session, or that the user keeps Handoff out of it, is no error.
    nonisolated package static func run(
        _ adapter: String, for name: String,
        isExcluded: @escaping @MainLoop @Sendable ([String]) -> Bool,
        make: @escaping @MainLoop @Sendable (PluginPipe<State>) throws -> any PluginSession
    ) -> Int32 {
        Log.useStandardError()
        guard SessionBus.isKnown else { return 0 }
        signal(SIGPIPE, SIG_IGN)
        let child = MainLoop.assumeIsolated { PluginChild(adapter, name, isExcluded, make) }
        MainLoop.start { await child.live() }
        MainLoop.run(until: child.token)
        return MainLoop.assumeIsolated { child.end() }
    }

    private func end() -> Int32 {
        session?.end()
        if let bus, !bus.connection.isClosed { bus.leave() }
        return 0
    }

    private func stop(_ reason: String) {
        adapterLog.debug("Handoff leaves \(name): \(reason)")
        token.stop()
    }

    private func live() async {
        do {
            let bus = try await Bus.connect(.session)
            self.bus = bus
            bus.connection.policy = BusAccessPolicy()
            bus.connection.onClosed = { [weak self] _ in self?.stop("the bus has ended.") }
            pipe.onEnd = { [weak self] in self?.stop("it has ended.") }
            let feed = PreferencesFeed(on: bus, log: adapterLog)
            self.feed = feed
            feed.onChange = { [weak self] in self?.choicesChanged() }
            feed.begin()
        } catch {
            stop("there is no bus.")
        }
    }

    /// Nothing of the application is read before it is known whether the user wants that.
    private func choicesChanged() {
        preferences = feed?.preferences ?? preferences
        if preferences.texts("DisabledAdapters").contains(adapter)
            || isExcluded(preferences.texts("ExcludedApplications"))
        {
            return leaveAlone()
        }
        if let session { return session.choose(preferences) }
        do {
            let session = try make(pipe)
            session.onSteppedBack = { [weak self] in self?.stop("it has learnt Handoff itself.") }
            session.choose(preferences)
            self.session = session
            // What was said while it was left alone is forgotten.
            if !pipe.begin() { pipe.askForFront() }
            MainLoop.start { [weak self] in await self?.openPending() }
        } catch {
            stop("\(error)")
        }
    }

    /// The user keeps Handoff out of the application, for now: nobody but this could begin again when that is over.
    private func leaveAlone() {
        session?.end()
        session = nil
        pipe.onMessage = nil
        // An application must not wait for somebody who does not read.
        _ = pipe.begin()
    }

    private func openPending() async {
        guard let bus, let session else { return }
        do {
            try await session.openPending(on: bus)
        } catch {
            adapterLog.warning("What \(name) was started for is not shown: \(error)")
        }
    }
}
