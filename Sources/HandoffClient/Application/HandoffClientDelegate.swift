// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import MainLoop

/// Who is asked and told what happens to the activities of a ``HandoffClient``: in the order in which it happens, on the
/// main loop. Every requirement has a default that does nothing, or refuses.
@MainLoop
package protocol HandoffClientDelegate: AnyObject {
    // MARK: The broker

    /// How the client stands has changed, or the application has been registered once more.
    func standingChanged(_ standing: ClientStanding)
    /// The broker that the application was registered with has ended; whether another one has taken its place.
    func brokerEnded(isReplaced: Bool)
    /// The broker has ended the registration, for this reason, which people may read. It is renewed at once; if the broker
    /// has refused that because an adapter is needed no longer, ``standingChanged(_:)`` says so.
    func registrationEnded(_ reason: String)

    // MARK: Activities

    /// The broker of the moment has the activity, at `path`.
    func created(_ key: ActivityKey, at path: ObjectPath)
    /// Whether the activity is the current one has changed.
    func currentChanged(_ key: ActivityKey, _ isCurrent: Bool)
    /// The broker has reset or set `NeedsSave`.
    func needsSaveChanged(_ key: ActivityKey, _ needsSave: Bool)
    /// The broker has refused what the application wanted; `restored` are the properties that have their former values
    /// again, nil for those that had none.
    func refused(_ key: ActivityKey, _ error: DBusError, restored: [String: Value?])
    /// The state is needed now.
    /// - Returns: what has changed, applied like `Update`.
    func willSave(_ key: ActivityKey) async throws -> [String: Value]
    /// The activity was continued on `device`.
    func wasContinued(_ key: ActivityKey, on device: ClientDevice) throws
    /// The continuing application has opened a stream. To refuse it, throw.
    func didReceiveStream(_ key: ActivityKey, _ stream: consuming FileDescriptor, _ call: MethodCall) throws

    // MARK: Activities of others

    /// Something of this type is coming.
    /// - Returns: whether the application shows that.
    func willContinue(
        _ key: ContinuationKey, type: String, from device: ClientDevice
    ) async throws -> Bool
    /// It is there: the arguments of `ContinueActivity`.
    /// - Returns: whether the application has handled it.
    func continueActivity(
        _ key: ContinuationKey, _ activity: [String: Value], _ context: [String: Value], _ call: MethodCall
    ) async throws -> Bool
    /// What was coming does not come; `key` is nil if it may be one of several.
    func didFailToContinue(_ key: ContinuationKey?, type: String, _ error: DBusError) throws
}

extension HandoffClientDelegate {
    package func standingChanged(_ standing: ClientStanding) {}
    package func brokerEnded(isReplaced: Bool) {}
    package func registrationEnded(_ reason: String) {}
    package func created(_ key: ActivityKey, at path: ObjectPath) {}
    package func currentChanged(_ key: ActivityKey, _ isCurrent: Bool) {}
    package func needsSaveChanged(_ key: ActivityKey, _ needsSave: Bool) {}
    package func refused(_ key: ActivityKey, _ error: DBusError, restored: [String: Value?]) {}
    package func willSave(_ key: ActivityKey) async throws -> [String: Value] { [:] }
    package func wasContinued(_ key: ActivityKey, on device: ClientDevice) throws {}
    package func didReceiveStream(
        _ key: ActivityKey, _ stream: consuming FileDescriptor, _ call: MethodCall
    ) throws {
        throw DBusError.unknownMethod("This application takes no streams.")
    }
    package func willContinue(
        _ key: ContinuationKey, type: String, from device: ClientDevice
    ) async throws -> Bool { false }
    package func continueActivity(
        _ key: ContinuationKey, _ activity: [String: Value], _ context: [String: Value], _ call: MethodCall
    ) async throws -> Bool {
        throw DBusError.unknownMethod("This application continues no activities.")
    }
    package func didFailToContinue(_ key: ContinuationKey?, type: String, _ error: DBusError) throws {}
}
