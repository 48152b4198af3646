// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// What a device says about itself to everybody on its network (protocol.md, "Announcement"): its peers can
/// find it by this, while nobody else learns more than that it is there.
struct Announcement: Equatable {
    /// The type of the service (RFC 6763, section 7).
    static let serviceType = "_handoff._tcp"
    /// How many random bytes the name of an instance is made from.
    static let instanceSize = 16
    /// How long the name may be, in bytes.
    static let maximumNameBytes = 200

    /// The tags, in random order: one for each peer, and others that nobody can tell apart from those.
    let tags: [[UInt8]]
    /// The name of a device that lets itself be discovered; otherwise empty.
    let name: String

    init(tags: [[UInt8]], name: String) {
        self.tags = tags
        var name = name
        while name.utf8.count > Self.maximumNameBytes { name.removeLast() }
        self.name = name
    }
}

extension Announcement {
    /// How many tags one string of a TXT record holds.
    private static let tagsInString = 31
    private static let keys = (version: "v", tags: "t", moreTags: "t1", name: "n")

    /// The strings of the announcement's TXT record.
    var text: [[UInt8]] {
        let rest = tags.dropFirst(Self.tagsInString)
        var text = [
            Self.entry(Self.keys.version, Array("1".utf8)),
            Self.entry(Self.keys.tags, Array(tags.prefix(Self.tagsInString).joined())),
        ]
        if !rest.isEmpty { text.append(Self.entry(Self.keys.moreTags, Array(rest.joined()))) }
        if !name.isEmpty { text.append(Self.entry(Self.keys.name, Array(name.utf8))) }
        return text
    }

    private static func entry(_ key: String, _ value: [UInt8]) -> [UInt8] { Array("\(key)=".utf8) + value }

    /// What the strings of a TXT record say; nil unless they are of a version that is understood here. If a
    /// key is repeated, the first counts; unknown keys are ignored (RFC 6763, section 6.4).
    init?(text: [[UInt8]]) {
        var values: [String: [UInt8]] = [:]
        for entry in text.prefix(16) {
            guard let equals = entry.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let key = String(decoding: entry[..<equals], as: UTF8.self).lowercased()
            if values[key] == nil { values[key] = Array(entry[(equals + 1)...]) }
        }
        guard values[Self.keys.version] == Array("1".utf8) else { return nil }
        let tags = [Self.keys.tags, Self.keys.moreTags].flatMap { Self.tags(in: values[$0] ?? []) }
        let name = String(validating: values[Self.keys.name] ?? [], as: UTF8.self) ?? ""
        self.init(tags: tags, name: PeerText.name(name))
    }

    private static func tags(in bytes: [UInt8]) -> [[UInt8]] {
        let whole = bytes.prefix(tagsInString * DiscoveryTag.size)
        return stride(from: 0, to: whole.count - DiscoveryTag.size + 1, by: DiscoveryTag.size).map {
            Array(whole[$0..<$0 + DiscoveryTag.size])
        }
    }
}
