// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore
package import HandoffKit

/// The connection of one application to a ``TestBroker``. It keeps what the application wants, and asks for it again when
/// the broker begins anew.
@MainActor
package final class TestBackend: HandoffBackend {
    package weak var receiver: (any HandoffBackendReceiver)?

    /// An activity that the application wants.
    private struct Wanted {
        let type: String
        var properties: [String: Value]
        /// The broker's, once it has one.
        var id: ActivityID?
    }

    let connection: String
    private let broker: TestBroker
    private var declaration: ApplicationDeclaration?
    private var wanted: [ActivityNumber: Wanted] = [:]
    private var current: ActivityNumber?
    private var isRegistered = false

    init(_ broker: TestBroker, connection: String) {
        self.broker = broker
        self.connection = connection
    }

    // MARK: Registering

    package func start(_ declaration: ApplicationDeclaration) {
        broker.later { [self] in
            self.declaration = declaration
            if broker.isRunning { register() } else { receiver?.standingChanged(.absent) }
        }
    }

    package func stop() {
        broker.later { [self] in
            declaration = nil
            wanted = [:]
            current = nil
            if isRegistered { broker.unregister(connection) }
            isRegistered = false
        }
    }

    private func register() {
        guard let declaration else { return }
        do throws(HandoffFailure) {
            try broker.register(declaration, connection: connection)
            isRegistered = true
            receiver?.standingChanged(.registered)
        } catch {
            receiver?.standingChanged(.refused(error))
            return
        }
        for number in wanted.keys.sorted(by: { $0.value < $1.value }) { make(number) }
        if let current, let id = wanted[current]?.id { broker.becomeCurrent(id) }
    }

    /// The broker has gone, and with it everything that it knew.
    func brokerEnded() {
        isRegistered = false
        for number in wanted.keys { wanted[number]?.id = nil }
        let former = current
        broker.later { [self] in
            if let former { receiver?.currentChanged(former, false) }
            receiver?.standingChanged(.absent)
        }
    }

    /// There is a broker again.
    func brokerBegan() {
        broker.later { [self] in
            if broker.isRunning, !isRegistered { register() }
        }
    }

    // MARK: Activities

    package func create(_ number: ActivityNumber, type: String, properties: [String: Value]) {
        broker.later { [self] in
            wanted[number] = Wanted(type: type, properties: properties)
            if isRegistered { make(number) }
        }
    }

    private func make(_ number: ActivityNumber) {
        guard let activity = wanted[number] else { return }
        do throws(HandoffFailure) {
            let id = try broker.create(
                number, type: activity.type, properties: activity.properties, backend: self)
            wanted[number]?.id = id
        } catch {
            receiver?.refused(number, error)
        }
    }

    package func update(_ number: ActivityNumber, _ properties: [String: Value]) {
        broker.later { [self] in
            guard isRegistered else {
                keep(properties, of: number)
                return
            }
            guard let id = wanted[number]?.id else { return }
            do throws(HandoffFailure) {
                try broker.update(id, properties)
                keep(properties, of: number)
            } catch {
                receiver?.refused(number, error)
            }
        }
    }

    /// These are to be set again with the next broker.
    func keep(_ properties: [String: Value], of number: ActivityNumber) {
        wanted[number]?.properties.merge(properties) { _, new in new }
    }

    package func becomeCurrent(_ number: ActivityNumber) {
        broker.later { [self] in
            current = number
            if let id = wanted[number]?.id { broker.becomeCurrent(id) }
        }
    }

    package func resignCurrent(_ number: ActivityNumber) {
        broker.later { [self] in
            if current == number { current = nil }
            if let id = wanted[number]?.id { broker.resignCurrent(id) }
        }
    }

    package func invalidate(_ number: ActivityNumber) {
        broker.later { [self] in
            if current == number { current = nil }
            if let id = wanted.removeValue(forKey: number)?.id { broker.invalidate(id) }
        }
    }

    /// Whether the activity is current is as the broker says; one that another has replaced is not wanted any more.
    func currentChanged(_ number: ActivityNumber, _ isCurrent: Bool) {
        if !isCurrent, current == number { current = nil }
        receiver?.currentChanged(number, isCurrent)
    }

    // MARK: Continuations

    package func openStream(_ number: ContinuationNumber) async throws(HandoffFailure) -> CInt {
        try broker.openStream(number)
    }

    package func release(_ number: ContinuationNumber) {
        broker.later { [self] in broker.continuations[number] = nil }
    }
}
