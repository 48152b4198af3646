// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// What a device says about itself with `Hello`.
struct LinkHello: Hashable, Sendable {
    /// The version of the protocol that this program speaks.
    static let version: UInt32 = 1

    /// Whether it trusts the other device.
    var isPaired: Bool
    /// 8 bytes that name the secret it has for the other device; empty for none.
    var secret: [UInt8] = []
    /// Its name; empty if it does not say.
    var name = ""
    /// What kind of device it is; empty if it does not say.
    var type = ""
    /// The port on which it accepts connections for streams; 0 if it does not say.
    var port: UInt16 = 0
    /// Where it can be reached from other networks, at most ``maximumPlaces``; nil if it does not say.
    var places: [KnockDestination]?

    /// How many places a device may say.
    static let maximumPlaces = 8

    private enum Key {
        static let paired = "Paired"
        static let secret = "Secret"
        static let name = "Name"
        static let type = "Type"
        static let port = "Port"
        static let places = "Places"
        static let all = [paired, secret, name, type, port, places]
    }

    init(
        isPaired: Bool, secret: [UInt8] = [], name: String = "", type: String = "", port: UInt16 = 0,
        places: [KnockDestination]? = nil
    ) {
        self.isPaired = isPaired
        self.secret = secret
        self.name = name
        self.type = type
        self.port = port
        self.places = places
    }

    /// What `about` says. Texts are made fit to be shown; an unknown type of device counts as none.
    /// - Throws: `InvalidArgs` naming the key whose value is of another type.
    init(_ about: [String: Value]) throws(HandoffFailure) {
        isPaired =
            try about.listed(Key.paired, "b") { if case .boolean(let value) = $0 { value } else { nil } }
            ?? false
        secret =
            try about.listed(Key.secret, "ay") { if case .bytes(let value) = $0 { value } else { nil } }
            ?? []
        guard secret.isEmpty || secret.count == 8 else {
            throw HandoffFailure(
                .invalidArguments, "\(Key.secret) has \(secret.count) bytes. Give 8 or none.")
        }
        name = PeerText.name(try about.listed(Key.name, "s", \.string) ?? "")
        type = DeviceType.checked(try about.listed(Key.type, "s", \.string) ?? "")
        port =
            try about.listed(Key.port, "q") { if case .uint16(let value) = $0 { value } else { nil } }
            ?? 0
        places = try Self.places(
            try about.listed(Key.places, "aay") {
                if case .array(let value) = $0, value.elementSignature == "ay" { value } else { nil }
            })
        for key in about.keys where !Key.all.contains(key) {
            bridgeLog.debug("Hello has an unknown key “\(PeerText.name(key))”, which is ignored.")
        }
    }

    private static func places(_ said: ArrayValue?) throws(HandoffFailure) -> [KnockDestination]? {
        guard let said else { return nil }
        guard said.elements.count <= maximumPlaces else {
            throw HandoffFailure(
                .invalidArguments,
                "\(Key.places) has \(said.elements.count) entries. Give at most \(maximumPlaces).")
        }
        let bytes = said.elements.compactMap { if case .bytes(let bytes) = $0 { bytes } else { nil } }
        guard bytes.allSatisfy({ KnockDestination(said: $0) != nil }) else {
            throw HandoffFailure(
                .invalidArguments,
                "An entry of \(Key.places) is not a place. Give 16 bytes of an address that means something on other"
                    + " networks, and two of a port.")
        }
        return places(bytes)
    }

    /// Those of `places` that are some, each once, as many as may be.
    static func places(_ places: [[UInt8]]) -> [KnockDestination] {
        var found: [KnockDestination] = []
        for place in places.lazy.compactMap({ KnockDestination(said: $0) }) where !found.contains(place) {
            found.append(place)
        }
        return Array(found.prefix(maximumPlaces))
    }

    /// This Hello as a dictionary.
    var about: [String: Value] {
        var about: [String: Value] = [Key.paired: .boolean(isPaired), Key.secret: .bytes(secret)]
        if !name.isEmpty { about[Key.name] = .string(name) }
        if !type.isEmpty { about[Key.type] = .string(type) }
        if port != 0 { about[Key.port] = .uint16(port) }
        if let places {
            about[Key.places] = .byteArrays(places.map(\.bytes))
        }
        return about
    }
}
