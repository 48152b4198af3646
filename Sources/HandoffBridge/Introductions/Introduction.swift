// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// What a peer says of another one of its peers (protocol.md, "Introductions").
struct Introduction: Hashable, Sendable {
    /// One as it is on a link.
    typealias Said = Structure<[UInt8], String, String, [[UInt8]]>

    let device: DeviceID
    /// What the device calls itself, fit to be shown; may be empty.
    let name: String
    /// What kind of device it is; may be empty.
    let type: String
    /// Where the peer knows it to be, at most ``maximumPlaces``.
    let places: [KnockDestination]

    /// How many devices a peer may introduce: as many as it can have besides the one that it tells.
    static let maximumDevices = TrustStore.maximumPeers - 1
    /// How many places of a device are told.
    static let maximumPlaces = 4
    /// How many bytes a list may take in a message, which has a header too.
    private static let maximumSize = LinkRules.maximumMessage - 1024

    /// The device, of which as many of `places` are told as may be. What cannot be told is left out.
    init(_ device: DeviceID, name: String, type: String, places: [KnockDestination]) {
        (self.device, self.name, self.type) = (device, name, type)
        self.places = Array(LinkHello.places(places.map(\.bytes)).prefix(Self.maximumPlaces))
    }

    /// - Throws: `InvalidArgs` saying what is wrong with it.
    init(_ said: Said) throws(HandoffFailure) {
        let (id, name, type, places) = said.fields
        device = try Self.device(id)
        guard places.count <= Self.maximumPlaces else {
            throw HandoffFailure(
                .invalidArguments, "\(device) has \(places.count) places. Give at most \(Self.maximumPlaces)."
            )
        }
        guard places.allSatisfy({ KnockDestination(said: $0) != nil }) else {
            throw HandoffFailure(
                .invalidArguments,
                "\(device) has a place that is not valid. Give 16 bytes of an address that means something "
                    + "on other networks, and two of a port.")
        }
        self.name = PeerText.name(name)
        self.type = DeviceType.checked(type)
        self.places = LinkHello.places(places)
    }

    /// The device with these bytes.
    /// - Throws: `InvalidArgs` if they are not those of an id.
    static func device(_ id: [UInt8]) throws(HandoffFailure) -> DeviceID {
        guard let device = DeviceID(bytes: id) else {
            throw HandoffFailure(.invalidArguments, "An id has \(id.count) bytes. Give 32.")
        }
        return device
    }

    /// - Throws: `InvalidArgs` if a list of `count` is too long.
    static func check(count: Int) throws(HandoffFailure) {
        guard count <= maximumDevices else {
            throw HandoffFailure(
                .invalidArguments, "There are \(count) devices. Give at most \(maximumDevices).")
        }
    }

    /// As it is on a link.
    var said: Said { Said(device.bytes, name, type, places.map(\.bytes)) }

    /// How many bytes it takes there at most, with what fills up to the boundaries of types.
    private var size: Int { 64 + name.utf8.count + type.utf8.count + 24 * places.count }

    /// The first of `list` that fit into a message. All do, unless many of them have names of the greatest length.
    static func fitting(_ list: some Sequence<Introduction>) -> [Introduction] {
        var left = maximumSize
        return Array(
            list.prefix { introduction in
                left -= introduction.size
                return left >= 0
            }.prefix(maximumDevices))
    }
}
