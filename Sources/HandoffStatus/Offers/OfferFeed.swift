// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
package import HandoffClient
internal import HandoffInterfaces
package import MainLoop

/// Follows the offers of one broker: first what there is, then what changes.
@MainLoop
package final class OfferFeed {
    /// What happened to an offer.
    package enum Change {
        case offered(RemoteOffer)
        case changed(RemoteOffer)
        case withdrawn(RemoteOffer)
    }

    private let broker: Daemon
    private let body: @MainLoop (Change) -> Void
    private var offers: [ObjectPath: RemoteOffer] = [:]
    private var tokens: [SignalToken] = []
    /// The signals that came before it was known which offers there are; nil from then on.
    private var early: [Message]? = []

    /// Follows the offers of `broker`. They are reported only once ``begin()`` has been called.
    package init(_ broker: Daemon, _ body: @escaping @MainLoop (Change) -> Void) {
        self.broker = broker
        self.body = body
        for interface in [InterfaceName.objectManager, .properties] {
            tokens.append(
                broker.bus.connection.onSignal(interface) { [weak self] signal in self?.received(signal) })
        }
    }

    /// Asks for the offers.
    package func begin() async throws {
        let objects = try await broker.brokerObjects()
        for offer in RemoteOffer.all(in: objects).reversed() { add(offer) }
        let waiting = early ?? []
        early = nil
        for signal in waiting { received(signal) }
    }

    /// Reports all offers as withdrawn, because the broker is gone.
    package func end() {
        tokens = []
        for offer in offers.values.sorted(by: { $0.since < $1.since }) { body(.withdrawn(offer)) }
        offers = [:]
    }

    private func add(_ offer: RemoteOffer) {
        if offers.updateValue(offer, forKey: offer.path) == nil { body(.offered(offer)) }
    }

    private func received(_ signal: Message) {
        guard signal.sender == broker.name else { return }
        if early != nil {
            early?.append(signal)
            return
        }
        // A signal of another form is not meant for us.
        var reader = MessageReader(signal)
        switch signal.member {
        case "InterfacesAdded": try? added(&reader)
        case "InterfacesRemoved": try? removed(&reader)
        case "PropertiesChanged": try? changed(signal, &reader)
        default: break
        }
    }

    private func added(_ reader: inout MessageReader) throws(DBusError) {
        let path: ObjectPath = try reader.read()
        let interfaces: [String: [String: Value]] = try reader.read()
        if let offer = RemoteOffer(path, interfaces) { add(offer) }
    }

    private func removed(_ reader: inout MessageReader) throws(DBusError) {
        let path: ObjectPath = try reader.read()
        let interfaces: [String] = try reader.read()
        guard interfaces.contains(RemoteActivityProxy.interface.text) else { return }
        if let offer = offers.removeValue(forKey: path) { body(.withdrawn(offer)) }
    }

    private func changed(_ signal: Message, _ reader: inout MessageReader) throws(DBusError) {
        let interface: String = try reader.read()
        let properties: [String: Value] = try reader.read()
        guard interface == RemoteActivityProxy.interface.text, let path = signal.path,
            let before = offers[path]
        else { return }
        var offer = before
        offer.update(properties)
        guard offer != before else { return }
        offers[path] = offer
        body(.changed(offer))
    }
}
