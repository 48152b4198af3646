// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop

/// The activity of `handoff publish`. It is made current at first, and then at each new broker only if it was
/// current when the one before ended, so that whatever the user has turned to in the meantime stays current.
@MainLoop
final class PublishedActivity {
    /// Its object at the present broker.
    private(set) var path: ObjectPath?
    private var broker: BusName?
    /// What `Current` last said, or what it is to be initially.
    private var isCurrent = true
    private var token: SignalToken?

    /// An activity that has not been created yet.
    init(_ bus: Bus) {
        token = bus.connection.onSignal(.properties, "PropertiesChanged") { [weak self] in self?.changed($0) }
    }

    /// Creates it at `broker`, and prints its id.
    func begin(
        with broker: Session.Daemon, _ type: String, _ properties: [String: Value]
    ) async throws {
        let path = try await broker.manager.createActivity(activityType: type, properties: properties)
        (self.path, self.broker) = (path, broker.name)
        if isCurrent { try await ActivityProxy(broker.object(path)).becomeCurrent() }
        try Output.line(String(path.lastElement))
    }

    private func changed(_ signal: Message) {
        guard signal.sender == broker, signal.path == path else { return }
        var reader = MessageReader(signal)
        guard (try? reader.read(String.self)) == ActivityProxy.interface.text,
            let properties: [String: Value] = try? reader.read(),
            case .boolean(let isCurrent)? = properties["Current"]
        else { return }
        self.isCurrent = isCurrent
    }
}
