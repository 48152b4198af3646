// SPDX-License-Identifier: LGPL-2.1-or-later

/// The places in which something of the agent's is shown, by what desktops call them, as an agent writes it down for the
/// next one.
struct PlaceRecord: Equatable {
    /// What the places are called, the newest last.
    private(set) var ids: [String] = []

    /// How many bytes a record may have.
    static let maximumSize = maximumPlaces * (maximumLength + 1)
    private static let maximumPlaces = 128
    private static let maximumLength = 200

    /// A record of no places.
    init() {}

    /// The record that `bytes` are; nil if they are none.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maximumSize, let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        ids = text.split(separator: "\n").map(String.init)
        guard ids.count <= Self.maximumPlaces, ids.allSatisfy(Self.isLegal) else { return nil }
    }

    /// Something is shown in the place `id`, or nothing any more.
    mutating func note(_ id: String, isShown: Bool) {
        ids.removeAll { $0 == id }
        if isShown, Self.isLegal(id) { ids = (ids + [id]).suffix(Self.maximumPlaces) }
    }

    /// How it is written.
    var bytes: [UInt8] { Array(ids.map { $0 + "\n" }.joined().utf8) }

    private static func isLegal(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= maximumLength && id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
