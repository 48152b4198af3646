// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
internal import HandoffInterfaces
internal import HandoffSession
package import MainLoop
package import Platform

/// Follows what the user has chosen, as the broker says it, and nothing else of the daemons: whoever needs only that sleeps
/// through all else. It starts no broker.
///
/// A connection within a sandbox that has taken the broker's name is not believed. A broker that does not answer is asked
/// again, less and less often, for as long as it is there.
@MainLoop
package final class PreferencesFeed {
    /// The properties of `Preferences`; nil while no broker says them.
    package private(set) var preferences: [String: Value]?
    /// Called when ``preferences`` is another, and for the first time when it is known whether there is a broker that says them.
    package var onChange: (@MainLoop () -> Void)?

    private let bus: Bus
    private let log: Log
    private var watch: OwnerWatch?
    private var token: SignalToken?
    private var isKnown = false
    /// Who is asked, or has answered; nil while there is none.
    private var broker: Daemon?
    /// What it has said has changed before it has answered.
    private var early: [String: Value] = [:]
    private let repetition = Repetition()

    /// How long a broker may take to answer.
    private static let patience = Duration.seconds(5)

    /// A feed of the broker on `bus`. Who is not believed is named in `log`.
    package init(on bus: Bus, log: Log) { (self.bus, self.log) = (bus, log) }

    /// Begins to follow.
    package func begin() {
        token = bus.connection.onSignal(.properties, "PropertiesChanged") { [weak self] in self?.changed($0) }
        watch = OwnerWatch(bus, HandoffNames.broker, log: log) { [weak self] in self?.ownerChanged($0) }
    }

    private func ownerChanged(_ owner: BusName?) {
        (broker, early) = (owner.map { Daemon(bus: bus, name: $0) }, [:])
        repetition.end()
        guard let broker else { return tell(nil) }
        ask(broker)
    }

    private func ask(_ broker: Daemon) {
        MainLoop.start { [weak self] in
            let answer = try? await broker.properties(
                PreferencesProxy.interface, HandoffNames.brokerPath, timeout: Self.patience)
            guard let self, self.broker?.name == broker.name else { return }
            guard let answer else { return askLater(broker) }
            repetition.end()
            tell(answer.merging(early) { $1 })
            early = [:]
        }
    }

    private func askLater(_ broker: Daemon) {
        // There is somebody, who says nothing.
        if !isKnown { tell(nil) }
        repetition.repeatLater { [weak self] in self?.ask(broker) }
    }

    /// A signal of another form is not meant for us.
    private func changed(_ signal: Message) {
        guard let broker, signal.sender == broker.name, signal.path == HandoffNames.brokerPath else { return }
        var reader = MessageReader(signal)
        guard let interface: String = try? reader.read(), interface == PreferencesProxy.interface.text,
            let properties: [String: Value] = try? reader.read()
        else { return }
        guard let preferences else { return early.merge(properties) { $1 } }
        tell(preferences.merging(properties) { $1 })
    }

    private func tell(_ new: [String: Value]?) {
        guard new != preferences || !isKnown else { return }
        (preferences, isKnown) = (new, true)
        onChange?()
    }
}
