// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffClient
import HandoffSettingsModel
import HandoffStatus

/// What the daemons could say.
enum Samples {
    static let now: Int64 = 1_700_000_000_000_000
    static let device = String(repeating: "ab", count: 32)
    static let other = String(repeating: "cd", count: 32)
    static var names: ApplicationNames { ApplicationNames { $0 == "org.example.Editor" ? "Editor" : nil } }

    static func offerPath(_ number: Int = 1) throws -> ObjectPath {
        try ObjectPath("/org/example/Handoff/remote/\(device)/\(String(repeating: "\(number)", count: 32))")
    }

    /// What the broker shows of an offer.
    static func offer(
        _ number: Int = 1, title: String = "Shopping", state: String = "available", progress: Double = -1,
        handlers: [String] = ["org.example.Editor", "org.example.Other"], invited: Bool = false,
        since: Int64 = now - 120_000_000, parkedAt: Int64 = 0
    ) throws -> ManagedObjects {
        [
            try offerPath(number): [
                "org.example.Handoff.RemoteActivity": [
                    "Title": .string(title), "DeviceName": .string("desk"), "State": .string(state),
                    "ApplicationId": .string("com.example.origin"), "Handlers": .strings(handlers),
                    "Since": .int64(since), "Invited": .boolean(invited), "Progress": .double(progress),
                    "Parked": .boolean(parkedAt != 0), "ParkedAt": .int64(parkedAt),
                ]
            ]
        ]
    }

    static func broker(
        _ objects: ManagedObjects = [:], enabled: Bool = true, preferences: [String: Value] = [:],
        more: [String: Value] = [:], desktop: String = "X11"
    ) -> BrokerStatus {
        BrokerStatus(
            objects: objects, manager: more.merging(["Enabled": .boolean(enabled)]) { first, _ in first },
            preferences: preferences, clipboard: ["Desktop": .string(desktop)])
    }

    /// What the bridge shows of a device.
    static func device(
        _ id: String = device, name: String = "desk", paired: Bool = true, connected: Bool = true,
        state: String = "none", asked: Bool = false, code: String = "", error: String = "",
        errorName: String = "", problem: String = "", problemName: String = "", way: String = "same-network",
        asleepSince: Int64 = 0, address: String = "192.0.2.1:4321",
        introducedBy: [String] = [], introduction: String = "none", retractedBy: [String] = []
    ) throws -> ManagedObjects {
        [
            try ObjectPath("/org/example/Handoff/Bridge/devices/\(id)"): [
                "org.example.Handoff.Device": [
                    "DeviceId": .string(id), "Name": .string(name), "Paired": .boolean(paired),
                    "Connected": .boolean(connected), "PairingState": .string(state),
                    "PairingAsked": .boolean(asked), "PairingCode": .string(code),
                    "PairingError": .string(error), "PairingErrorName": .string(errorName),
                    "ConnectionErrorName": .string(problemName),
                    "ConnectionError": .string(problem), "ConnectedAddress": .string(address),
                    "Way": .string(way), "IntroducedBy": .strings(introducedBy),
                    "IntroductionState": .string(introduction), "RetractedBy": .strings(retractedBy),
                    "ConnectedSince": .int64(now - 180_000_000),
                    "AsleepSince": .int64(asleepSince),
                    "DisconnectedSince": .int64(connected ? 0 : now - 7_200_000_000),
                ]
            ]
        ]
    }

    static func bridge(_ objects: ManagedObjects = [:], _ more: [String: Value] = [:]) -> BridgeStatus {
        BridgeStatus(
            objects: objects,
            more.merging(["Port": .uint16(4321), "DeviceName": .string("lap")]) { first, _ in first })
    }

    static func report(
        _ broker: BrokerStatus = broker(), _ bridge: BridgeStatus = bridge()
    ) -> StatusReport {
        StatusReport(broker: .running(broker), bridge: .running(bridge))
    }

    /// What is visible when the daemons say this.
    static func content(_ report: StatusReport?, _ change: (inout WindowState) -> Void = { _ in })
        -> WindowContent
    {
        var state = WindowState()
        if let report { state.take(report) }
        change(&state)
        return WindowContent(state, at: now, names)
    }
}
