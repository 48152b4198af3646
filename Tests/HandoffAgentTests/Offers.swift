// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import HandoffAgent
import HandoffClient
import HandoffStatus
import MainLoop

/// Applications that a test knows.
@MainLoop
final class KnownFaces: ApplicationFaces {
    let faces: [String: (name: String, icon: String)]

    init(
        _ faces: [String: (name: String, icon: String)] = [
            "com.example.editor": ("Text Editor", "text-editor")
        ]
    ) {
        self.faces = faces
    }

    func face(of applicationID: String) -> (name: String, icon: String)? { faces[applicationID] }
}

/// Writes down what the user has asked for.
@MainLoop
final class RecordedActions: AgentActions {
    var actions: [String] = []

    func continueOffer(at path: ObjectPath, in applicationID: String?, token: String) {
        actions.append("continue \(path.lastElement) [\(token)]")
    }
    func send(to deviceID: String) { actions.append("send \(deviceID.prefix(4))") }
    func paste(from deviceID: String) { actions.append("paste \(deviceID.prefix(4))") }
    func dismissOffer(at path: ObjectPath) { actions.append("dismiss \(path.lastElement)") }
    func confirmPairing(with deviceID: String, matches: Bool) { actions.append("confirm") }
    func setEnabled(_ isEnabled: Bool) { actions.append("enabled \(isEnabled)") }
    func openWindow(token: String) { actions.append("window [\(token)]") }
    func openEverything(at deviceID: String, token: String) {
        actions.append("everything \(deviceID.prefix(4)) [\(token)]")
    }
}

/// What the daemons say in a test.
enum Sample {
    static let device = String(repeating: "d", count: 64)

    /// An offer that is object `number`.
    static func path(_ number: Int) throws -> ObjectPath {
        let digits = String(number, radix: 16)
        let id = String(repeating: "0", count: 32 - digits.count) + digits
        return try ObjectPath("/org/example/Handoff/remote/\(device)/\(id)")
    }

    /// What stands for that offer on the bus.
    static func offer(
        _ number: Int, _ title: String, device: String = "desk"
    ) throws -> (ObjectPath, [String: [String: Value]]) {
        (
            try path(number),
            [
                "org.example.Handoff.RemoteActivity": [
                    "Title": .string(title), "DeviceName": .string(device),
                    "ApplicationId": .string("com.example.editor"),
                    "Handlers": .strings(["com.example.editor"]), "Since": .int64(Int64(1000 - number)),
                    "State": .string("available"),
                ]
            ]
        )
    }

    /// A report with these offers, the first of which is the latest.
    static func report(
        _ titles: [String], device: String = "desk", isEnabled: Bool = true
    ) throws -> StatusReport {
        var objects: [ObjectPath: [String: [String: Value]]] = [:]
        for (number, title) in titles.enumerated() where !title.isEmpty {
            let (path, interfaces) = try offer(number, title, device: device)
            objects[path] = interfaces
        }
        return StatusReport(
            broker: .running(
                BrokerStatus(objects: objects, manager: ["Enabled": .boolean(isEnabled)])))
    }

    /// A report with something current, a device that is connected, these applications excluded, this choice about
    /// the clipboard, and this way to the one of the desktop.
    static func sendingReport(
        excluded: [String], clipboard: String = "off", desktop: String = "X11"
    ) throws -> StatusReport {
        let activity = try ObjectPath("/org/example/Handoff/activities/" + String(repeating: "0", count: 32))
        let path = try ObjectPath("/org/example/Handoff/Bridge/devices/\(device)")
        let broker = BrokerStatus(
            objects: [
                activity: [
                    "org.example.Handoff.Activity": [
                        "Current": .boolean(true), "ApplicationId": .string("com.example.editor"),
                        "Title": .string("Mine"),
                    ]
                ]
            ], manager: ["Enabled": .boolean(true)],
            preferences: ["ExcludedApplications": .strings(excluded), "Clipboard": .string(clipboard)],
            clipboard: ["Desktop": .string(desktop)])
        let devices: ManagedObjects = [
            path: [
                "org.example.Handoff.Device": [
                    "Name": .string("desk"), "Paired": .boolean(true), "Connected": .boolean(true),
                ]
            ]
        ]
        return StatusReport(broker: .running(broker), bridge: .running(BridgeStatus(objects: devices, [:])))
    }

    /// An offer as it is shown.
    @MainLoop
    static func shown(_ number: Int, _ title: String, device: String = "desk") throws -> ListedOffer? {
        let (path, interfaces) = try offer(number, title, device: device)
        return RemoteOffer(path, interfaces).map { ListedOffer($0, KnownFaces()) }
    }
}
