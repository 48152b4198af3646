// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffInterfaces
internal import MainLoop

extension ActivityBook.Call {
    /// Whose call it is.
    var key: ActivityKey {
        switch self {
        case .create(let key, _, _), .update(let key, _, _), .becomeCurrent(let key, _),
            .resignCurrent(let key, _), .leaveCurrent(let key, _), .becomeOpen(let key, _),
            .invalidate(let key, _):
            key
        }
    }

    /// Which step it is.
    var step: ActivityBook.Step {
        switch self {
        case .create: .create
        case .update: .update
        case .becomeCurrent: .becomeCurrent
        case .resignCurrent: .resignCurrent
        case .leaveCurrent: .leaveCurrent
        case .becomeOpen: .becomeOpen
        case .invalidate: .invalidate
        }
    }

    /// A broker that hangs and then goes on does all that it was sent: the wait ends with the broker alone.
    private static let patience = Duration.seconds(366 * 86_400)

    /// Sends it to `broker`, and waits for the answer.
    /// - Returns: where the broker has the activity that it has created, else nil.
    @MainLoop
    func perform(with broker: Daemon) async -> Result<ObjectPath?, DBusError> {
        do {
            switch self {
            case .create(_, let type, let properties):
                return .success(
                    try await broker.manager.createActivity(
                        activityType: type, properties: properties, timeout: Self.patience))
            case .update(_, let path, let properties):
                try await ActivityProxy(broker.object(path))
                    .update(properties: properties, timeout: Self.patience)
            case .becomeCurrent(_, let path):
                try await ActivityProxy(broker.object(path)).becomeCurrent(timeout: Self.patience)
            case .resignCurrent(_, let path):
                try await ActivityProxy(broker.object(path)).resignCurrent(timeout: Self.patience)
            case .leaveCurrent(_, let path):
                try await ActivityProxy(broker.object(path)).leaveCurrent(timeout: Self.patience)
            case .becomeOpen(_, let path):
                try await ActivityProxy(broker.object(path)).becomeOpen(timeout: Self.patience)
            case .invalidate(_, let path):
                try await ActivityProxy(broker.object(path)).invalidate(timeout: Self.patience)
            }
            return .success(nil)
        } catch {
            return .failure(DBusError.converting(error))
        }
    }
}
