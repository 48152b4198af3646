// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

/// The form of the trust store: a key file whose first group holds `Version` and `Count`, then comes a group
/// for each device, and a group named "Unpaired" and a number for each secret of a device that was unpaired.
///
/// GKeyFile reads an empty file, one that was cut short and one whose content is there twice without
/// complaint, so whatever can reveal that is checked: the count, that no group comes twice, and that each
/// group has all of its keys, the last of which has a form that shows whether it was cut. `Muted` may be missing, and means
/// false then, and so may `Places`, with `PlacesSince`, and `KeptDespite`, and in the first group `Declined` and `Unpaired`.
enum TrustFile {
    /// What is wrong with a file, for people.
    struct Damage: Error, CustomStringConvertible {
        let description: String
    }

    /// A file that was written by a later version of this program: nothing is wrong with it.
    struct Newer: Error {
        let version: Int64
    }

    static let version: Int64 = 1
    private static let head = "Trust"

    /// What a file holds.
    struct Contents: Equatable {
        var entries: [TrustEntry] = []
        var tombstones: [Tombstone] = []
        var declined: [DeclinedDevice] = []
    }

    /// How the names of the groups of tombstones begin.
    private static let unpaired = "Unpaired "

    private enum Key {
        static let version = "Version"
        static let count = "Count"
        static let name = "Name"
        static let type = "Type"
        static let source = "Source"
        static let addresses = "Addresses"
        static let mutual = "Mutual"
        static let secret = "Secret"
        static let secretSince = "SecretSince"
        static let formerSecret = "FormerSecret"
        static let awaitsLink = "AwaitsLink"
        static let muted = "Muted"
        static let places = "Places"
        static let placesSince = "PlacesSince"
        static let keptDespite = "KeptDespite"
        static let declined = "Declined"
        static let unpaired = "Unpaired"
        static let device = "Device"
        static let since = "Since"
    }

    /// The file that holds all this.
    static func render(
        _ entries: some Collection<TrustEntry>, _ tombstones: [Tombstone] = [],
        _ declined: [DeclinedDevice] = []
    ) -> KeyFile {
        let file = KeyFile()
        file.set(Key.version, in: head, to: version)
        file.set(Key.count, in: head, to: Int64(entries.count + tombstones.count))
        for (key, isUnpaired) in [(Key.declined, false), (Key.unpaired, true)] {
            let those = declined.filter { $0.isUnpaired == isUnpaired }
            if !those.isEmpty { file.set(key, in: head, to: those.map { "\($0.device) \($0.since)" }) }
        }
        for entry in entries.sorted(by: { $0.device < $1.device }) {
            let group = entry.device.description
            file.set(Key.since, in: group, to: entry.since)
            file.set(Key.name, in: group, to: entry.name)
            file.set(Key.type, in: group, to: entry.type)
            file.set(Key.source, in: group, to: entry.source.rawValue)
            file.set(Key.addresses, in: group, to: entry.addresses.map(\.description))
            file.set(Key.secret, in: group, to: text(entry.secret))
            file.set(Key.secretSince, in: group, to: entry.secretSince)
            file.set(Key.formerSecret, in: group, to: text(entry.formerSecret))
            file.set(Key.awaitsLink, in: group, to: entry.awaitsLink)
            if !entry.places.isEmpty {
                file.set(
                    Key.places, in: group, to: entry.places.compactMap { $0.address?.description })
                file.set(Key.placesSince, in: group, to: entry.placesSince)
            }
            if entry.isMuted { file.set(Key.muted, in: group, to: true) }
            if !entry.keptDespite.isEmpty {
                file.set(Key.keptDespite, in: group, to: entry.keptDespite.sorted().map(\.description))
            }
            file.set(Key.mutual, in: group, to: entry.isMutual)
        }
        for (number, tombstone) in tombstones.enumerated() {
            let group = "\(unpaired)\(number)"
            file.set(Key.device, in: group, to: tombstone.device.description)
            file.set(Key.since, in: group, to: tombstone.since)
            file.set(Key.secret, in: group, to: text(tombstone.secret))
            file.set(Key.mutual, in: group, to: false)
        }
        return file
    }

    private static func text(_ secret: PeerSecret?) -> String {
        secret.map { Digest.hexadecimal($0.bytes) } ?? ""
    }

    /// What `file` holds.
    /// - Throws: ``Damage``, `KeyFileError` or ``Newer``.
    static func parse(_ file: KeyFile) throws -> Contents {
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
        var contents = Contents()
        contents.declined = declined(Key.declined, file, false) + declined(Key.unpaired, file, true)
        for group in groups {
            if group.hasPrefix(unpaired) {
                contents.tombstones.append(try tombstone(group, file))
            } else {
                contents.entries.append(try entry(group, file))
            }
        }
        guard contents.entries.count <= TrustStore.maximumPeers,
            contents.tombstones.count <= Tombstone.maximum
        else { throw Damage(description: "it holds too many devices") }
        return contents
    }

    /// The devices in this list; they can be done without, since the user can say it again.
    private static func declined(_ key: String, _ file: KeyFile, _ isUnpaired: Bool) -> [DeclinedDevice] {
        let texts = (try? file.strings(key, in: head)) ?? []
        return texts.compactMap { text in
            let parts = text.split(separator: " ")
            guard parts.count == 2, let device = DeviceID(String(parts[0])), let since = Int64(parts[1])
            else { return nil }
            return DeclinedDevice(device: device, since: since, isUnpaired: isUnpaired)
        }
        .suffix(DeclinedDevice.maximum)
    }

    private static func required<Value>(_ key: String, in group: String, _ value: Value?) throws -> Value {
        guard let value else { throw Damage(description: "[\(group)] has no legal \(key)") }
        return value
    }

    /// A secret; nil if it is empty.
    private static func secret(_ key: String, _ group: String, _ file: KeyFile) throws -> PeerSecret? {
        let text = try required(key, in: group, file.string(key, in: group))
        if text.isEmpty { return nil }
        // A secret is written like the id of a device, and is as long.
        return try required(key, in: group, DeviceID(text).flatMap { PeerSecret(bytes: $0.bytes) })
    }

    private static func tombstone(_ group: String, _ file: KeyFile) throws -> Tombstone {
        let device = try file.string(Key.device, in: group).flatMap { DeviceID($0) }
        _ = try required(Key.mutual, in: group, file.boolean(Key.mutual, in: group))
        return Tombstone(
            device: try required(Key.device, in: group, device),
            secret: try required(Key.secret, in: group, secret(Key.secret, group, file)),
            since: try required(Key.since, in: group, file.integer(Key.since, in: group)))
    }

    private static func entry(_ group: String, _ file: KeyFile) throws -> TrustEntry {
        func required<Value>(_ key: String, _ value: Value?) throws -> Value {
            try Self.required(key, in: group, value)
        }
        guard let device = DeviceID(group) else {
            throw Damage(description: "[\(PeerText.title(group))] is not the id of a device")
        }
        let source = try file.string(Key.source, in: group).flatMap { TrustEntry.Source(rawValue: $0) }
        let addresses = try required(Key.addresses, file.strings(Key.addresses, in: group))
        var entry = TrustEntry(
            device,
            since: try required(Key.since, file.integer(Key.since, in: group)),
            name: PeerText.name(try required(Key.name, file.string(Key.name, in: group))),
            type: DeviceType.checked(try required(Key.type, file.string(Key.type, in: group))),
            source: try required(Key.source, source),
            addresses: Array(addresses.compactMap { NetworkAddress($0) }.prefix(TrustEntry.maximumAddresses)),
            isMutual: try required(Key.mutual, file.boolean(Key.mutual, in: group)),
            awaitsLink: try required(Key.awaitsLink, file.boolean(Key.awaitsLink, in: group)),
            secret: try secret(Key.secret, group, file),
            secretSince: try required(Key.secretSince, file.integer(Key.secretSince, in: group)),
            formerSecret: try secret(Key.formerSecret, group, file))
        entry.isMuted = try file.boolean(Key.muted, in: group) ?? false
        let kept = (try? file.strings(Key.keptDespite, in: group)) ?? []
        entry.keptDespite = Set(kept.prefix(TrustStore.maximumPeers).compactMap { DeviceID($0) })
        // They can be done without: the peer says them again.
        if let places = try? file.strings(Key.places, in: group),
            let since = try? file.integer(Key.placesSince, in: group), since >= 0
        {
            let said = places.compactMap { NetworkAddress($0).flatMap { KnockDestination($0) } }
            entry.remember(places: LinkHello.places(said.map(\.bytes)), at: since)
        }
        return entry
    }
}
