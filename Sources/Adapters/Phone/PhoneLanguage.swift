// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import MainLoop

/// A telephone, as the program says that reaches it.
struct FoundPhone: Equatable, Sendable {
    /// Its own id, by which it is the same whoever reaches it.
    let id: String
    /// What it is called.
    let name: String
    /// Its object at that program.
    let path: ObjectPath

    /// A telephone; nil if its id or its path is none. What others have chosen may be anything.
    init?(id: String, name: String, path: String) {
        let name = PeerText.name(name)
        guard 1...128 ~= id.utf8.count, !name.isEmpty, id.unicodeScalars.allSatisfy(Self.isPlain),
            let path = try? ObjectPath(path)
        else { return nil }
        (self.id, self.name, self.path) = (id, name, path)
    }

    private static func isPlain(_ character: Unicode.Scalar) -> Bool {
        character.isASCII
            && (character.properties.isAlphabetic || "0123456789_-".unicodeScalars.contains(character))
    }
}

/// How a program is talked to that reaches telephones. Each of its questions is answered by the process that owns `owner`.
@MainLoop
protocol PhoneLanguage: Sendable {
    /// The bus name of the program.
    nonisolated var name: BusName { get }
    /// The application, by its desktop entry.
    nonisolated var application: String { get }
    /// The signals after which other telephones may be there.
    nonisolated var signals: [(interface: InterfaceName, member: MemberName)] { get }

    /// The telephones that can be sent something now.
    func phones(of owner: BusName, on bus: Bus) async throws -> [FoundPhone]
    /// Sends `url`, a page or a file, to `phone`.
    func share(_ url: String, isFile: Bool, with phone: FoundPhone, of owner: BusName, on bus: Bus)
        async throws
}

/// How long such a program may take to answer.
let phonePatience = Duration.seconds(4)
/// How many telephones are looked at.
let maximumPhones = 16

/// KDE Connect 22.12 and later.
struct KDEConnect: PhoneLanguage {
    nonisolated let name: BusName = "org.kde.kdeconnect"
    nonisolated let application = "org.kde.kdeconnect.app"
    nonisolated var signals: [(interface: InterfaceName, member: MemberName)] {
        [(Self.daemon, "deviceListChanged"), (Self.device, "pluginsChanged"), (Self.device, "nameChanged")]
    }

    /// How long all that are listed may take to answer, in microseconds.
    private static let longestLook: Int64 = 6_000_000
    private nonisolated static let daemon: InterfaceName = "org.kde.kdeconnect.daemon"
    private nonisolated static let device: InterfaceName = "org.kde.kdeconnect.device"
    private static let root: ObjectPath = "/modules/kdeconnect"

    func phones(of owner: BusName, on bus: Bus) async throws -> [FoundPhone] {
        let reply = try await RemoteObject(bus.connection, owner, Self.root)
            .call(Self.daemon, "deviceNames", output: "a{ss}", timeout: phonePatience) {
                (writer) throws(DBusError) in
                try writer.write(true)
                try writer.write(true)
            }
        var reader = MessageReader(reply)
        let names: [String: String] = try reader.read()
        var phones: [FoundPhone] = []
        let deadline = MainLoop.now + Self.longestLook
        for (id, name) in names.sorted(by: { $0.key < $1.key }).prefix(maximumPhones) {
            let path = "\(Self.root)/devices/\(id)"
            guard MainLoop.now < deadline else { break }
            guard let phone = FoundPhone(id: id, name: name, path: path) else { continue }
            // One that has just gone answers that there is no such object.
            if (try? await canShare(phone, owner, bus)) == true { phones.append(phone) }
        }
        return phones
    }

    private func canShare(_ phone: FoundPhone, _ owner: BusName, _ bus: Bus) async throws -> Bool {
        let reply = try await RemoteObject(bus.connection, owner, phone.path)
            .call(Self.device, "hasPlugin", output: "b", timeout: phonePatience) {
                (writer) throws(DBusError) in
                try writer.write("kdeconnect_share")
            }
        var reader = MessageReader(reply)
        return try reader.read()
    }

    func share(
        _ url: String, isFile: Bool, with phone: FoundPhone, of owner: BusName, on bus: Bus
    ) async throws {
        let share = RemoteObject(bus.connection, owner, try phone.path.appending("share"))
        _ = try await share.call(
            "org.kde.kdeconnect.device.share", "shareUrl", output: "", timeout: phonePatience
        ) { (writer) throws(DBusError) in try writer.write(url) }
    }
}

/// GSConnect or Valent, whose telephones are objects with actions (`org.gtk.Actions`).
struct ActionPhones: PhoneLanguage {
    nonisolated let name: BusName
    nonisolated let application: String
    private let root: ObjectPath
    private let device: InterfaceName
    private let isThere: @Sendable ([String: Value]) -> Bool
    private let pageAction: String
    private let fileAction: String
    private let fileParameter: @Sendable (String) throws(DBusError) -> Value

    nonisolated var signals: [(interface: InterfaceName, member: MemberName)] {
        [
            (.objectManager, "InterfacesAdded"), (.objectManager, "InterfacesRemoved"),
            (.properties, "PropertiesChanged"),
        ]
    }

    private static let actions: InterfaceName = "org.gtk.Actions"

    /// GSConnect.
    static let gsConnect = ActionPhones(
        name: "org.gnome.Shell.Extensions.GSConnect", application: "org.gnome.Shell.Extensions.GSConnect",
        root: "/org/gnome/Shell/Extensions/GSConnect", device: "org.gnome.Shell.Extensions.GSConnect.Device",
        isThere: { $0.flag("Connected") && $0.flag("Paired") }, pageAction: "shareUri",
        fileAction: "shareFile",
        fileParameter: { (url) throws(DBusError) in try .structure([.string(url), .boolean(false)]) })

    /// Valent, whose `State` has a bit each for connected and paired.
    static let valent = ActionPhones(
        name: "ca.andyholmes.Valent", application: "ca.andyholmes.Valent", root: "/ca/andyholmes/Valent",
        device: "ca.andyholmes.Valent.Device",
        isThere: { if case .uint32(let state)? = $0["State"] { state & 3 == 3 } else { false } },
        pageAction: "share.uri", fileAction: "share.uri", fileParameter: { .string($0) })

    func phones(of owner: BusName, on bus: Bus) async throws -> [FoundPhone] {
        let objects = try await RemoteObject(bus.connection, owner, root).managedObjects()
        let devices = objects.compactMap { path, interfaces in interfaces[device.text].map { (path, $0) } }
        return devices.sorted { $0.0.text < $1.0.text }.filter { isThere($0.1) }.compactMap {
            path, properties in
            FoundPhone(
                id: properties["Id"]?.string ?? "", name: properties["Name"]?.string ?? "", path: path.text)
        }
    }

    func share(
        _ url: String, isFile: Bool, with phone: FoundPhone, of owner: BusName, on bus: Bus
    ) async throws {
        let object = RemoteObject(bus.connection, owner, phone.path)
        let action = isFile ? fileAction : pageAction
        let parameter = isFile ? try fileParameter(url) : Value.string(url)
        // An action that is disabled takes everything and does nothing.
        let reply = try await object.call(Self.actions, "Describe", output: "(bgav)", timeout: phonePatience)
        {
            (writer) throws(DBusError) in try writer.write(action)
        }
        var reader = MessageReader(reply)
        guard case .structure(let description) = try reader.readAnyValue(),
            description.fields.first == .boolean(true)
        else { throw HandoffFailure.noPhone }
        _ = try await object.call(Self.actions, "Activate", output: "", timeout: phonePatience) {
            (writer) throws(DBusError) in
            try writer.write(action)
            try writer.write([parameter])
            try writer.write([String: Value]())
        }
    }
}

extension HandoffFailure {
    /// It is not there any more.
    static var noPhone: HandoffFailure {
        HandoffFailure(
            .unknownObject,
            "The telephone is not there any more, or takes nothing now. Look at it, and try again.")
    }
}
