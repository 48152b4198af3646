// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import Glibc
internal import HandoffClient
package import HandoffCore
internal import HandoffDaemon
internal import HandoffInterfaces
internal import HandoffStatus
package import MainLoop
package import Platform

/// An adapter that the bus starts, with what each of them needs: a bus name, what the agent tells of the focus, what the user
/// has chosen, and an end when there is nothing to do any more.
@MainLoop
package final class AdapterService {
    /// The session bus. The connections of applications are others.
    package let bus: Bus
    /// Which window of its applications the user works in.
    package private(set) var front = Front.unknown {
        didSet { if front != oldValue { onFrontChange?() } }
    }
    /// Called when ``front`` is another.
    package var onFrontChange: (@MainLoop () -> Void)?
    /// Called when what the user has chosen may be different, for the first time when it is known.
    package var onChoicesChange: (@MainLoop () -> Void)?

    private let name: String
    private let feed: PreferencesFeed
    /// What the user has chosen; nil until it is known.
    private var chosen: [String: Value]?
    private var watch: NameWatch?
    private var agent: BusName?

    private init(_ name: String, _ bus: Bus) {
        (self.name, self.bus) = (name, bus)
        feed = PreferencesFeed(on: bus, log: adapterLog)
    }

    /// Runs an adapter until it is asked to end, its name is taken over, the user switches it off, or it calls
    /// ``finish(_:)``.
    /// - Parameters:
    ///   - name: what `DisabledAdapters` calls it; the program is `handoff-NAME`.
    ///   - busName: the bus name that it takes.
    ///   - make: makes what there is to do, which lives as long as the program.
    ///   - arguments: the command line, the program's name first.
    ///   - begin: called once the name is ours.
    /// - Returns: the exit status.
    package nonisolated static func run<Body: Sendable>(
        _ name: String, busName: BusName, summary: String, arguments: [String],
        make: @escaping @MainLoop @Sendable (AdapterService, ProgramOptions.Values) throws -> Body,
        begin: @escaping @MainLoop @Sendable (Body) async throws -> Void
    ) -> Int32 {
        DaemonProgram.run(
            "handoff-\(name)", name: busName, summary: summary, arguments: arguments,
            export: { bus, values in
                let service = AdapterService(name, bus)
                let body = try make(service, values)
                service.export()
                return (service, body)
            },
            begin: { service, body in
                service.feed.begin()
                try await begin(body)
            })
    }

    /// Ends the program in order: there is nothing to do any more.
    package func finish(_ reason: String) {
        adapterLog.debug("handoff-\(name) ends: \(reason)")
        // The program ends as if it had been asked to.
        raise(SIGTERM)
    }

    private func export() {
        bus.connection.policy = BusAccessPolicy(bus: bus, watching: [.agent, .broker])
        bus.connection.objects.export(HandoffNames.adapterPath, [AdapterBinding(FrontObject(self))])
        watch = bus.watch(HandoffNames.agent) { [weak self] in self?.agentChanged($0) }
        feed.onChange = { [weak self] in self?.choicesChanged() }
    }

    private func agentChanged(_ owner: BusName?) {
        guard owner != agent else { return }
        agent = owner
        // What a former one has said holds no longer, and a new one says it anew.
        front = .unknown
    }

    private func choicesChanged() {
        // While a broker is away, what the user has chosen holds on.
        let now = feed.preferences ?? preferences
        guard now != chosen else { return }
        chosen = now
        if !isOn { return finish("the user has switched it off.") }
        onChoicesChange?()
    }

    fileprivate func told(_ front: Front, by caller: BusName?) {
        // It may call before it is known whose the name is, and what it says holds.
        agent = caller
        self.front = front
    }

    // MARK: What the user has chosen

    /// Whether the user has not switched this adapter off.
    package var isOn: Bool { !preferences.texts("DisabledAdapters").contains(name) }

    /// Whether the user keeps Handoff out of `application`.
    package func isExcluded(_ application: ApplicationID) -> Bool {
        preferences.texts("ExcludedApplications").contains(application.description)
    }

    /// The properties of `Preferences`, as a broker has told them last.
    var preferences: [String: Value] { chosen ?? [:] }
}

/// What the agent calls.
@MainLoop
private final class FrontObject: AdapterServer {
    private unowned let service: AdapterService

    init(_ service: AdapterService) { self.service = service }

    func frontChanged(window: [String: Value], _ call: MethodCall) throws {
        service.told(try Front.described(by: window), by: call.caller.name)
    }
}
