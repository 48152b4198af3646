// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// What the kit stands on: the broker of the session, or one in memory for the tests of applications.
///
/// Calls take effect in the order in which they are made. None of them waits for anything: what becomes of them is told
/// to the ``receiver``, in the order in which it happens. Whoever implements this registers and creates anew by itself when
/// a broker comes, so that a number stands for an activity as long as the application wants it.
@MainActor
package protocol HandoffBackend: AnyObject {
    /// Who is told what happens.
    var receiver: (any HandoffBackendReceiver)? { get set }
    /// Registers the application from now on. Whatever was called before counts from then on.
    func start(_ declaration: ApplicationDeclaration)
    /// Takes the registration back, and with it all activities.
    func stop()

    /// Creates an activity that is known by `number`; an empty type is the first that was declared, or what the document
    /// types give. `properties` are all that are set, under the names of `org.example.Handoff.Activity`.
    func create(_ number: ActivityNumber, type: String, properties: [String: Value])
    /// Sets several properties, all or none.
    func update(_ number: ActivityNumber, _ properties: [String: Value])
    /// Makes the activity the current one.
    func becomeCurrent(_ number: ActivityNumber)
    /// It is no longer current.
    func resignCurrent(_ number: ActivityNumber)
    /// Ends the activity; the number is never used again.
    func invalidate(_ number: ActivityNumber)

    /// Calls `body` after `time`, on the clock of the broker.
    func timer(after time: Duration, _ body: @escaping @MainActor () -> Void) -> BackendTimer

    /// Opens a stream of a continuation.
    /// - Returns: a descriptor that the caller has to close.
    func openStream(_ number: ContinuationNumber) async throws(HandoffFailure) -> CInt
    /// Ends a continuation: no more streams are needed.
    func release(_ number: ContinuationNumber)
}

/// Who is told what happens to the activities of a ``HandoffBackend``.
@MainActor
package protocol HandoffBackendReceiver: AnyObject {
    /// The registration has come about, has ended, or was refused.
    func standingChanged(_ standing: HandoffStanding)

    /// Whether the activity is the current one has changed.
    func currentChanged(_ number: ActivityNumber, _ isCurrent: Bool)
    /// The broker has reset or set `NeedsSave`.
    func needsSaveChanged(_ number: ActivityNumber, _ needsSave: Bool)
    /// The broker has created the activity, which has this type.
    func created(_ number: ActivityNumber, type: String)
    /// The broker has refused what the application wanted of the activity. The properties in `restored` have their former
    /// values again, nil for those that had none; what the application has set since is not among them.
    func refused(_ number: ActivityNumber, _ failure: HandoffFailure, restored: [String: Value?])
    /// The state is needed now.
    /// - Returns: what has changed, applied like ``HandoffBackend/update(_:_:)``.
    func willSave(_ number: ActivityNumber) async throws -> [String: Value]
    /// The activity was continued on `device`.
    func wasContinued(_ number: ActivityNumber, on device: ContinuationDevice)
    /// The continuing application has opened a stream, whose end the receiver has to close.
    func didReceiveStream(_ number: ActivityNumber, _ descriptor: CInt)

    /// Something of this type is coming.
    /// - Returns: whether the application shows that.
    func willContinue(_ number: ContinuationNumber, type: String, from device: ContinuationDevice) async
        -> Bool
    /// It is there: the properties of `org.example.Handoff.Activity` that are set.
    /// - Returns: whether the application has handled it.
    func continueActivity(
        _ number: ContinuationNumber, _ activity: [String: Value], from device: ContinuationDevice,
        activationToken: String
    ) async throws -> Bool
    /// What was coming does not come.
    func didFailToContinue(_ number: ContinuationNumber?, type: String, _ failure: HandoffFailure)
}
