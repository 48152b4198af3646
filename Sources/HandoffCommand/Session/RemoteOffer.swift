// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces

/// The current activity of another device, as the broker shows it.
struct RemoteOffer: Equatable {
    /// Its object, from which id and device are taken.
    let path: ObjectPath
    /// 32 hexadecimal digits.
    let id: String
    /// 64 hexadecimal digits.
    let deviceID: String
    private(set) var deviceName = ""
    private(set) var deviceType = ""
    private(set) var type = ""
    private(set) var title = ""
    private(set) var applicationID = ""
    /// The local applications that can continue it, best first.
    private(set) var handlers: [String] = []
    /// Those of them that do not run, and have to be started.
    private(set) var handlersToStart: [String] = []
    /// When it became current there, in microseconds since the Unix epoch.
    private(set) var since: Int64 = 0
    private(set) var state = ""
    /// From 0 to 1, nil if it is not known.
    private(set) var progress: Double?

    /// The offer at `path` if it is one.
    init?(_ path: ObjectPath, _ interfaces: [String: [String: Value]]) {
        guard let properties = interfaces[RemoteActivityProxy.interface.text],
            let suffix = path.suffix(below: HandoffNames.remote)
        else { return nil }
        let parts = suffix.split(separator: "/")
        guard parts.count == 2 else { return nil }
        self.path = path
        deviceID = String(parts[0])
        id = String(parts[1])
        update(properties)
    }

    /// Takes over the properties that are in `changed`.
    mutating func update(_ changed: [String: Value]) {
        if changed["DeviceName"] != nil { deviceName = changed.text("DeviceName") }
        if changed["DeviceType"] != nil { deviceType = changed.text("DeviceType") }
        if changed["ActivityType"] != nil { type = changed.text("ActivityType") }
        if changed["Title"] != nil { title = changed.text("Title") }
        if changed["ApplicationId"] != nil { applicationID = changed.text("ApplicationId") }
        if changed["Handlers"] != nil { handlers = changed.texts("Handlers") }
        if changed["HandlersToStart"] != nil { handlersToStart = changed.texts("HandlersToStart") }
        if changed["Since"] != nil { since = changed.time("Since") }
        if changed["State"] != nil { state = changed.text("State") }
        if let number = changed.real("Progress") { progress = (0...1).contains(number) ? number : nil }
    }

    /// The offers among `objects`, the latest first.
    static func all(in objects: ManagedObjects) -> [RemoteOffer] {
        objects.compactMap { RemoteOffer($0, $1) }
            .sorted { ($1.since, $0.path) < ($0.since, $1.path) }
    }

    /// What to call it: the title, or the application if there is none; fit to be shown.
    var label: ChosenText { ChosenText(title: title.isEmpty ? applicationID : title) }

    /// What to call its device; fit to be shown.
    var device: ChosenText {
        ChosenText(name: deviceName.isEmpty ? String(deviceID.prefix(ShortIDs.minimum)) : deviceName)
    }

    /// What can continue it, best first, and which of these have to be started.
    var continuesIn: String {
        handlers.map { $0 + (handlersToStart.contains($0) ? " (not running)" : "") }.joined(separator: ", ")
    }

    var json: JSON {
        [
            "id": .string(id), "deviceId": .string(deviceID), "deviceName": .string(deviceName),
            "deviceType": .string(deviceType), "type": .string(type), "title": .string(title),
            "applicationId": .string(applicationID), "handlers": .strings(handlers),
            "handlersToStart": .strings(handlersToStart), "since": .integer(since),
            "state": .string(state), "progress": progress.map { .real($0) } ?? .null,
        ]
    }
}

extension [RemoteOffer] {
    /// The table of `handoff list`, at the time `now`.
    func table(at now: Int64) -> Table {
        let ids = ShortIDs(map(\.id))
        var table = Table("ID", "DEVICE", "TITLE", "TYPE", "SINCE", "CONTINUES IN")
        for offer in self {
            table.add(
                name(of: offer, ids), offer.device.shown, offer.label.shown,
                ChosenText(title: offer.type).shown,
                Age.text(of: offer.since, at: now),
                offer.continuesIn)
        }
        return table
    }

    /// The id by which `offer` can be chosen among these, preceded by its device if two devices show the same
    /// id.
    private func name(of offer: RemoteOffer, _ ids: ShortIDs) -> String {
        guard filter({ $0.id == offer.id }).count > 1 else { return ids.short(offer.id) }
        return ShortIDs(map(\.deviceID)).short(offer.deviceID) + "/" + ids.short(offer.id)
    }

    /// The one offer that `text` names: the beginning of its id, or `DEVICE/ID` with the beginnings of both.
    func choose(_ text: String) throws(CommandFailure) -> RemoteOffer {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { $0.lowercased() }
        guard let id = parts.last, parts.count <= 2,
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isHexDigit) })
        else {
            throw .usage("\(text.quoted) is not an id of an activity. See “handoff list”.")
        }
        let found = filter { offer in
            offer.id.hasPrefix(id) && (parts.count == 1 || offer.deviceID.hasPrefix(parts[0]))
        }
        guard let offer = found.first else {
            throw CommandFailure("No activity with the id \(text.quoted) is offered. See “handoff list”.")
        }
        guard found.count == 1 else {
            let list = found.table(at: 0).lines.joined(separator: "\n")
            throw .usage(
                "The id \(text.quoted) is that of \(found.count) activities. Give more of it:\n\(list)")
        }
        return offer
    }
}
