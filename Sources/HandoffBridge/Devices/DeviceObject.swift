// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// Whoever does what the user wants done with a device.
@MainLoop
protocol DeviceObjectOwner: AnyObject {
    /// Begins pairing with `device`, or agrees to pair.
    func pair(_ device: DeviceID) throws
    /// The user says whether the codes are the same.
    func confirmPairing(_ device: DeviceID, _ matches: Bool) throws
    /// Ends pairing with `device`, if that is under way.
    func cancelPairing(_ device: DeviceID)
    /// Ends the trust in `device`, and tells it so.
    func unpair(_ device: DeviceID) throws
    /// Sends what this device offers to `device`.
    func send(to device: DeviceID) async throws
    /// What is open at `device`, as objects of the broker.
    func listActivities(of device: DeviceID) async throws -> [ObjectPath]
    /// What waits for `device` under this id is not to wait any longer.
    func cancelWaiting(_ id: ActivityID, for device: DeviceID) throws
    /// What `device` sends is shown as sent from now on, or not.
    func setMuted(_ isMuted: Bool, _ device: DeviceID) throws
    /// Pairs with `device`, which is introduced, as far as it is for this device to say.
    func acceptIntroduction(of device: DeviceID) throws
    /// Does not ask about `device`, which is introduced, any more.
    func declineIntroduction(of device: DeviceID) throws
    /// Keeps the peer `device`, though others have unpaired it.
    func keepPairing(with device: DeviceID) throws
}

/// Another device on the bus.
@MainLoop
final class DeviceObject: DeviceServer {
    /// What the bus is shown of a device.
    struct State: Equatable {
        var name = ""
        var type = ""
        var addresses: [String] = []
        var isPaired = false
        /// Since when there is a link, by the wall clock; 0 without one.
        var connectedSince: Int64 = 0
        /// Since when there is none, by the wall clock; 0 with one, or if that is not known.
        var disconnectedSince: Int64 = 0
        /// Since when it sleeps, by the wall clock, if it has left something here; otherwise 0.
        var asleepSince: Int64 = 0
        var connectedAddress = ""
        var way = ""
        var places: [String] = []
        var connectionError = ShownError.none
        var pairingState = "none"
        /// Whether the device has asked to be paired, and the user here has yet to agree.
        var isAsking = false
        var pairingCode = ""
        var pairingError = ShownError.none
        var isMuted = false
        var isSending = false
        var sendError = ShownError.none
        var waiting: [[String: Value]] = []
        var introducedBy: [String] = []
        var introductionState = "none"
        var retractedBy: [String] = []

        var isConnected: Bool { connectedSince != 0 }

        /// The names of the properties that differ from those in `other`.
        func changes(from other: State) -> [String] {
            var names: [String] = []
            if name != other.name { names.append("Name") }
            if type != other.type { names.append("Type") }
            if addresses != other.addresses { names.append("Addresses") }
            if isPaired != other.isPaired { names.append("Paired") }
            if isConnected != other.isConnected { names.append("Connected") }
            if connectedSince != other.connectedSince { names.append("ConnectedSince") }
            if disconnectedSince != other.disconnectedSince { names.append("DisconnectedSince") }
            if asleepSince != other.asleepSince { names.append("AsleepSince") }
            if connectedAddress != other.connectedAddress { names.append("ConnectedAddress") }
            if way != other.way { names.append("Way") }
            if places != other.places { names.append("Places") }
            names += connectionError.changes(from: other.connectionError, "ConnectionError")
            if pairingState != other.pairingState { names.append("PairingState") }
            if isAsking != other.isAsking { names.append("PairingAsked") }
            if pairingCode != other.pairingCode { names.append("PairingCode") }
            names += pairingError.changes(from: other.pairingError, "PairingError")
            if isMuted != other.isMuted { names.append("Muted") }
            if isSending != other.isSending { names.append("Sending") }
            names += sendError.changes(from: other.sendError, "SendError")
            if waiting != other.waiting { names.append("Waiting") }
            if introducedBy != other.introducedBy { names.append("IntroducedBy") }
            if introductionState != other.introductionState { names.append("IntroductionState") }
            if retractedBy != other.retractedBy { names.append("RetractedBy") }
            return names
        }
    }

    let device: DeviceID
    var state: State
    private let owner: any DeviceObjectOwner

    init(_ owner: any DeviceObjectOwner, _ device: DeviceID, _ state: State) {
        self.owner = owner
        self.device = device
        self.state = state
    }

    var deviceId: String { device.description }
    var name: String { state.name }
    var type: String { state.type }
    var addresses: [String] { state.addresses }
    var paired: Bool { state.isPaired }
    var connected: Bool { state.isConnected }
    var connectedSince: Int64 { state.connectedSince }
    var disconnectedSince: Int64 { state.disconnectedSince }
    var asleepSince: Int64 { state.asleepSince }
    var connectedAddress: String { state.connectedAddress }
    var way: String { state.way }
    var places: [String] { state.places }
    var connectionError: String { state.connectionError.text }
    var connectionErrorName: String { state.connectionError.name }
    var pairingState: String { state.pairingState }
    var pairingAsked: Bool { state.isAsking }
    var pairingCode: String { state.pairingCode }
    var pairingError: String { state.pairingError.text }
    var pairingErrorName: String { state.pairingError.name }
    var muted: Bool { state.isMuted }
    var sending: Bool { state.isSending }
    var sendError: String { state.sendError.text }
    var sendErrorName: String { state.sendError.name }
    var waiting: [[String: Value]] { state.waiting }
    var introducedBy: [String] { state.introducedBy }
    var introductionState: String { state.introductionState }
    var retractedBy: [String] { state.retractedBy }

    func pair(_ call: MethodCall) throws { try owner.pair(device) }

    func confirmPairing(matches: Bool, _ call: MethodCall) throws {
        try owner.confirmPairing(device, matches)
    }

    func cancelPairing(_ call: MethodCall) throws { owner.cancelPairing(device) }
    func unpair(_ call: MethodCall) throws { try owner.unpair(device) }
    func send(_ call: MethodCall) async throws { try await owner.send(to: device) }

    func listActivities(_ call: MethodCall) async throws -> [ObjectPath] {
        try await owner.listActivities(of: device)
    }

    func cancelWaiting(id: String, _ call: MethodCall) throws {
        try owner.cancelWaiting(try ActivityID(checking: id), for: device)
    }

    func acceptIntroduction(_ call: MethodCall) throws { try owner.acceptIntroduction(of: device) }
    func declineIntroduction(_ call: MethodCall) throws { try owner.declineIntroduction(of: device) }
    func keepPairing(_ call: MethodCall) throws { try owner.keepPairing(with: device) }
    func setMuted(_ muted: Bool, _ call: MethodCall) throws { try owner.setMuted(muted, device) }
}
