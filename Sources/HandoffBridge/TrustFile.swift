// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import MainLoop

/// The form of the trust store: a key file whose first group holds `Version` and `Count`, then a group a
/// device.
///
/// GKeyFile reads an empty, a cut and a doubled file without complaint, so all that can tell is checked: the
/// count, that no group comes twice, and that each has all of its keys, the last of which is of a kind that
/// shows a cut.
enum TrustFile {
    /// What is wrong with a file, for people.
    struct Damage: Error, CustomStringConvertible {
        let description: String
    }

    /// A file by a later version of this program: nothing is wrong with it.
    struct Newer: Error {
        let version: Int64
    }

    static let version: Int64 = 1
    private static let head = "Trust"

    private enum Key {
        static let version = "Version"
        static let count = "Count"
        static let name = "Name"
        static let type = "Type"
        static let source = "Source"
        static let addresses = "Addresses"
        static let mutual = "Mutual"
    }

    /// The file that holds `entries`.
    static func render(_ entries: some Collection<TrustEntry>) -> KeyFile {
        let file = KeyFile()
        file.set(Key.version, in: head, to: version)
        file.set(Key.count, in: head, to: Int64(entries.count))
        for entry in entries.sorted(by: { $0.device < $1.device }) {
            let group = entry.device.description
            file.set(Key.name, in: group, to: entry.name)
            file.set(Key.type, in: group, to: entry.type)
            file.set(Key.source, in: group, to: entry.source.rawValue)
            file.set(Key.addresses, in: group, to: entry.addresses.map(\.description))
            file.set(Key.mutual, in: group, to: entry.isMutual)
        }
        return file
    }

    /// The entries in `file`.
    /// - Throws: ``Damage``, `KeyFileError` or ``Newer``.
    static func parse(_ file: KeyFile) throws -> [TrustEntry] {
        guard file.groups.first == head else { throw Damage(description: "it does not begin with [\(head)]") }
        guard let found = try file.integer(Key.version, in: head) else {
            throw Damage(description: "it has no \(Key.version)")
        }
        guard found <= version else { throw Newer(version: found) }
        guard found == version else { throw Damage(description: "\(Key.version) is \(found)") }
        guard !file.hasRepeatedGroups else { throw Damage(description: "a group comes twice") }
        let groups = file.groups.dropFirst()
        let count = try file.integer(Key.count, in: head)
        guard count == Int64(groups.count) else {
            throw Damage(
                description:
                    "it says that it holds \(count.map { "\($0)" } ?? "no") devices, but holds \(groups.count)"
            )
        }
        guard groups.count <= TrustStore.maximumPeers else {
            throw Damage(description: "it holds too many devices")
        }
        return try groups.map { try entry($0, file) }
    }

    private static func entry(_ group: String, _ file: KeyFile) throws -> TrustEntry {
        func required<Value>(_ key: String, _ value: Value?) throws -> Value {
            guard let value else { throw Damage(description: "[\(group)] has no legal \(key)") }
            return value
        }
        guard let device = DeviceID(group) else {
            throw Damage(description: "[\(PeerText.title(group))] is not the id of a device")
        }
        let source = try file.string(Key.source, in: group).flatMap { TrustEntry.Source(rawValue: $0) }
        let addresses = try required(Key.addresses, file.strings(Key.addresses, in: group))
        return TrustEntry(
            device,
            name: PeerText.name(try required(Key.name, file.string(Key.name, in: group))),
            type: DeviceType.checked(try required(Key.type, file.string(Key.type, in: group))),
            source: try required(Key.source, source),
            addresses: Array(addresses.compactMap { NetworkAddress($0) }.prefix(TrustEntry.maximumAddresses)),
            isMutual: try required(Key.mutual, file.boolean(Key.mutual, in: group)))
    }
}
