// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffStatus

/// Something that broker, bridge or bus is asked to do.
package enum Request: Equatable, Sendable {
    /// Writes a preference of this name.
    case setPreference(String, Value)
    /// Changes a preference that is a list, as it is then. Such changes are made one after the other.
    case changeList(ListChange)
    /// Changes which folders are shared, as they are then; likewise.
    case changeFolders(FolderChange)
    /// Has the bus start the broker, which has it start the bridge.
    case startBroker
    /// Has the bus start the bridge.
    case startBridge
    /// Continues the offer at the path, in the application, or the best one. It is over when the continuation is.
    case continueOffer(ObjectPath, application: String?, token: String)
    /// Cancels the continuation of the offer.
    case cancelContinuing(ObjectPath)
    /// Hides the offer until it ends.
    case dismiss(ObjectPath)
    /// Lets devices that are not paired find this one, or no longer.
    case setDiscoverable(Bool)
    /// Connects to the first of these addresses where a device answers.
    case connect([String])
    /// Begins to pair with the device of this id, or agrees to it.
    case pair(String)
    /// Says whether both devices show the same code.
    case confirmPairing(String, matches: Bool)
    /// Gives up pairing.
    case cancelPairing(String)
    /// Ends the pairing with a device.
    case unpair(String)
    /// Pairs with a device that a peer has introduced.
    case acceptIntroduction(String)
    /// The user does not want to pair with a device that a peer has introduced.
    case declineIntroduction(String)
    /// The user keeps a device that others have unpaired.
    case keepPairing(String)
    /// Whether what is sent to this device by that one is not shown.
    case setMuted(String, Bool)
    /// Switches GNOME's extension on or off.
    case setShellExtension(Bool)
    /// Sends what the user of this device is doing to that one. It is over when it is there, waits for it, or has failed.
    case send(String)
    /// Sends it to a telephone. It is over when whoever reaches that has taken it.
    case sendToPhone(KnownPhone)
    /// Lists what is open at the device of this id.
    case listActivities(String)
    /// Continues these activities here. It is over when that has begun.
    case continueAll([ObjectPath], token: String)
    /// Ends what was begun by that.
    case cancelAll(ObjectPath)
    /// Takes back something of this id that waits for a device.
    case cancelWaiting(String, device: String)
}

/// What came of a ``Request``.
package enum Outcome: Equatable, Sendable {
    /// It is done.
    case done
    /// It is done, and this is the id of the device.
    case device(String)
    /// It is done, and this is what there is, the latest used first.
    case listed([RemoteOffer])
    /// It has begun, and this object says how far it is.
    case began(ObjectPath)
    /// It is done, and this is what the user has to know.
    case told(String)
    /// It is not done: the name of the error, empty if it has none, and why, in the user's language.
    case failed(name: String, message: String)

    /// It is not done, because a call was answered with this error.
    package static func failed(_ error: DBusError) -> Outcome {
        .failed(name: error.name.text, message: FailureText.request(error).line)
    }

    /// A continuation has ended with the error `errorName`, of which the broker, or somebody through it, says `message`.
    package static func notContinued(_ errorName: String, _ message: String) -> Outcome {
        .failed(name: errorName, message: FailureText(errorName: errorName, message).line)
    }

    /// A device has not taken what was sent to it.
    package static func notSent(_ errorName: String, _ message: String) -> Outcome {
        .failed(name: errorName, message: FailureText.sending(errorName, message).line)
    }
}
