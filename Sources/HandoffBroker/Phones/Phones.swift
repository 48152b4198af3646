// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// The telephones that another program of this session reaches, and what is sent to them.
@MainLoop
final class Phones {
    /// A telephone, as it was announced.
    struct Phone: Equatable {
        /// What that program calls it.
        let id: String
        /// What it is called, fit to be shown.
        let name: String

        /// The telephone that `properties` describe.
        init(_ properties: [String: Value]) throws(HandoffFailure) {
            guard let id = properties["Id"]?.string, let name = properties["Name"]?.string,
                1...256 ~= id.utf8.count, 1...256 ~= name.utf8.count
            else {
                throw HandoffFailure(
                    .invalidArguments,
                    "A telephone needs Id and Name, each a text of 1 to 256 bytes. Leave out what has none.")
            }
            (self.id, self.name) = (id, PeerText.name(name))
        }
    }

    /// Who reaches them.
    private struct Adapter {
        let owner: BusName
        let path: ObjectPath
        var phones: [Phone]
    }

    private let connection: Connection
    private let activities: OwnActivities
    private var adapter: Adapter?
    private var told: [Phone] = []

    /// How many there may be.
    private static let maximum = 16
    /// How long it may take to hand something over.
    private static let patience = Duration.seconds(10)

    /// Telephones that `activities` can be sent to.
    init(_ connection: Connection, _ activities: OwnActivities) {
        (self.connection, self.activities) = (connection, activities)
    }

    /// Those that what is current can be sent to.
    var reachable: [Phone] { sendable?.url == nil ? [] : adapter?.phones ?? [] }

    // MARK: Who reaches them

    /// `owner` reaches these.
    func announce(_ phones: [[String: Value]], by owner: BusName, at path: ObjectPath) throws {
        guard phones.count <= Self.maximum else {
            throw HandoffFailure.tooMany(
                "telephones", limit: Self.maximum, advice: "Announce those used last.")
        }
        adapter = Adapter(owner: owner, path: path, phones: try phones.map(Phone.init))
        update()
    }

    /// `owner` has left the bus.
    func vanished(_ owner: BusName) {
        guard adapter?.owner == owner else { return }
        adapter = nil
        update()
    }

    /// What is current may be something else.
    func update() {
        guard adapter != nil || !told.isEmpty else { return }
        let now = reachable
        guard now != told else { return }
        told = now
        connection.objects.propertiesChanged(
            HandoffNames.brokerPath, PhonesBinding.description.name, ["Phones"], tell: .subscribers)
    }

    // MARK: Sending

    /// What would be sent; nil if there is nothing that may go to other devices.
    private var sendable: (object: ActivityObject, url: String?)? {
        guard let id = activities.offered ?? activities.left?.id, let object = activities.object(of: id)
        else {
            return nil
        }
        let isPage = !object.webpageURL.isEmpty
        let url = isPage ? object.webpageURL : object.documentURL
        return (object, url.isEmpty || !isPage && object.isSandboxed ? nil : url)
    }

    /// Sends what is current to the telephone `id`.
    func send(to id: String) async throws {
        guard activities.isEnabled else { throw HandoffFailure.disabled }
        guard let object = sendable?.object else {
            throw HandoffFailure(
                .offerWithdrawn, "Nothing is current here that may go to other devices. Begin something.")
        }
        _ = await object.saved(within: Deadline.willSave + .seconds(1))
        guard let (now, url) = sendable, now === object else { throw HandoffFailure.offerWithdrawn }
        guard let url else {
            throw HandoffFailure(
                .notSupported,
                "\(object.applicationID) shows neither a page nor a document that a telephone could be sent.")
        }
        guard let adapter, let phone = adapter.phones.first(where: { $0.id == id }) else {
            throw HandoffFailure(
                .unknownObject, "There is no telephone “\(PeerText.message(id))” (any more). See Phones.")
        }
        let proxy = PhoneAdapterProxy(RemoteObject(connection, adapter.owner, adapter.path))
        try await proxy.share(phoneId: id, url: url, timeout: Self.patience)
        brokerLog.message("\(phone.name) was sent what \(object.applicationID) shows.")
    }
}

/// `org.example.Handoff.Phones`.
@MainLoop
final class PhonesObject: PhonesServer {
    private let model: Phones

    init(_ model: Phones) { self.model = model }

    var phones: [[String: Value]] {
        model.reachable.map { ["Id": .string($0.id), "Name": .string($0.name)] }
    }

    func send(phoneId: String, _ call: MethodCall) async throws { try await model.send(to: phoneId) }

    func announce(phones: [[String: Value]], adapter: ObjectPath, _ call: MethodCall) throws {
        guard let name = call.caller.name else { return }
        try model.announce(phones, by: name, at: adapter)
    }
}
