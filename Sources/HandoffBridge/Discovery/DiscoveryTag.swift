// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

/// The marks in an announcement by which a peer recognizes whose it is (protocol.md, "Announcement").
enum DiscoveryTag {
    /// How many bytes each tag has.
    static let size = 8
    /// How many tags an announcement can have. These numbers reveal little about how many peers there are.
    static let counts = [8, 16, 31, 62]

    /// What the tags of an announcement depend on besides the secret.
    struct Subject {
        /// The device that announces itself.
        let device: DeviceID
        /// The random bytes of the instance.
        let instance: [UInt8]
        /// The port on which the device listens.
        let port: UInt16
    }

    /// The whole hours from 1970 to `time`, which is in microseconds since then.
    static func hour(at time: Int64) -> UInt64 { UInt64(max(0, time)) / 3_600_000_000 }

    /// The tag of `subject` for the device that shares `secret` with it.
    static func make(_ subject: Subject, for secret: PeerSecret, hour: UInt64) -> [UInt8] {
        let words = [UInt8(subject.port >> 8), UInt8(subject.port & 0xFF)] + bytes(of: hour)
        let label = Array("handoff tag 1".utf8)
        let whole = Digest.hmacSHA256(
            key: secret.bytes, label + subject.device.bytes + subject.instance + words)
        return Array(whole.prefix(size))
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }

    /// A tag for each of `secrets`, and so many of `fillers` that the number is one of ``counts``, sorted by
    /// their bytes, so that the order reveals nothing.
    static func all(
        _ subject: Subject, for secrets: [PeerSecret], hour: UInt64, fillers: [[UInt8]]
    ) -> [[UInt8]] {
        let tags = secrets.prefix(TrustStore.maximumPeers).map { make(subject, for: $0, hour: hour) }
        let count = counts.first { $0 >= tags.count } ?? tags.count
        return (tags + fillers.prefix(count - tags.count)).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Random tags, enough for every announcement. They must stay the same for as long as the real ones do:
    /// if they changed earlier, they could be told apart from those.
    static func makeFillers() -> [[UInt8]] {
        (0..<TrustStore.maximumPeers).map { _ in RandomBytes.make(size) }
    }

    /// Which of the devices with `secrets` has made an announcement with `tags`; nil if none of them has.
    ///
    /// The clock of that device may be up to an hour fast or slow.
    static func device(
        _ tags: [[UInt8]], instance: [UInt8], port: UInt16, hour: UInt64,
        among secrets: [(device: DeviceID, secret: PeerSecret)]
    ) -> DeviceID? {
        let tags = Set(tags)
        return secrets.first { device, secret in
            let subject = Subject(device: device, instance: instance, port: port)
            return [hour, hour + 1, hour - min(hour, 1)].contains {
                tags.contains(make(subject, for: secret, hour: $0))
            }
        }?.device
    }
}
