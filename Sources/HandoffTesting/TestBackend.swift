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
    /// How many times each property is on its way to the broker, so that no refusal takes back what is newer.
    private var underWay: [ActivityNumber: [String: Int]] = [:]

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
            if let type = broker.objects[id]?.type { receiver?.created(number, type: type.description) }
        } catch {
            receiver?.refused(number, error, restored: [:])
        }
    }

    package func update(_ number: ActivityNumber, _ properties: [String: Value]) {
        for name in properties.keys { underWay[number, default: [:]][name, default: 0] += 1 }
        broker.later { [self] in
            for name in properties.keys { underWay[number]?[name]? -= 1 }
            guard isRegistered else {
                keep(properties, of: number)
                return
            }
            set(properties, of: number)
        }
    }

    /// Has the broker set `properties`, all at once, or if it refuses that each by itself: a bad one does not cost the
    /// others.
    private func set(_ properties: [String: Value], of number: ActivityNumber) {
        guard let id = wanted[number]?.id else { return }
        do throws(HandoffFailure) {
            try broker.update(id, properties)
            keep(properties, of: number)
        } catch {
            guard properties.count == 1 else {
                for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
                    set([name: value], of: number)
                }
                return
            }
            refused(properties, of: number, error)
        }
    }

    /// The broker has refused these properties, which have their former values again unless they were set anew.
    func refused(_ properties: [String: Value], of number: ActivityNumber, _ failure: HandoffFailure) {
        let former = wanted[number]?.properties ?? [:]
        var restored: [String: Value?] = [:]
        for name in properties.keys where underWay[number]?[name, default: 0] ?? 0 == 0 {
            restored[name] = .some(former[name])
        }
        receiver?.refused(number, failure, restored: restored)
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
            underWay[number] = nil
            if let id = wanted.removeValue(forKey: number)?.id { broker.invalidate(id) }
        }
    }

    /// Whether the activity is current is as the broker says; one that another has replaced is not wanted any more.
    func currentChanged(_ number: ActivityNumber, _ isCurrent: Bool) {
        if !isCurrent, current == number { current = nil }
        receiver?.currentChanged(number, isCurrent)
    }

    package func timer(after time: Duration, _ body: @escaping @MainActor () -> Void) -> BackendTimer {
        broker.timer(after: time, body)
    }

    // MARK: Continuations

    package func openStream(_ number: ContinuationNumber) async throws(HandoffFailure) -> CInt {
        try broker.openStream(number)
    }

    package func release(_ number: ContinuationNumber) {
        broker.later { [self] in broker.continuations[number] = nil }
    }
}
