// SPDX-License-Identifier: LGPL-2.1-or-later
import HandoffCore
import Testing

@testable import HandoffBridge

extension Vectors {
    private static let instance = row(0xF0, 16)
    private static let hour: UInt64 = 495_000

    /// What is said by multicast DNS.
    func announcements() throws -> JSON {
        [
            "labels": .list(labels()),
            "hours": .list(hours()),
            "tags": .list(tags()),
            "sets": .list(try sets()),
            "records": .list(records()),
            "recognized": .list(recognized()),
        ]
    }

    private func labels() -> [JSON] {
        let good = Base32.encode(Self.instance)
        let labels = [good, good.uppercased(), Base32.encode(Array(repeating: 0, count: 16))]
        let others = [
            String(good.dropLast()), good.dropLast() + "z", "1" + good.dropFirst(), good + "======",
        ]
        return (labels + others).map { label in
            ["label": .text(label), "instance": .orNull(Base32.decode(label))]
        }
    }

    private func hours() -> [JSON] {
        let times = [0, 3599, 3600, 1_782_000_000, 1_782_003_599] as [Int64]
        return times.map { seconds in
            [
                "seconds": .number(seconds),
                "hour": .number(DiscoveryTag.hour(at: seconds * 1_000_000)),
            ]
        }
    }

    private func subject(_ device: DeviceID) -> DiscoveryTag.Subject {
        DiscoveryTag.Subject(device: device, instance: Self.instance, port: Self.port)
    }

    private func tags() -> [JSON] {
        [(lap, Self.hour), (desk, Self.hour), (lap, Self.hour + 1), (lap, 0)].map { device, hour in
            [
                "K": .bytes(secret.bytes), "id": .bytes(device.bytes), "instance": .bytes(Self.instance),
                "port": .number(Self.port), "hour": .number(hour),
                "tag": .bytes(DiscoveryTag.make(subject(device), for: secret, hour: hour)),
            ]
        }
    }

    /// The tags of a device with so many peers. Each K consists of one byte, and so does each random tag.
    private func sets() throws -> [JSON] {
        let fillers = (0..<62).map { [UInt8](repeating: 4 * UInt8($0) + 1, count: DiscoveryTag.size) }
        return try [0, 1, 8, 9, 31, 32, 62].map { count in
            let secrets = try (0..<count).map { try HandoffBridgeTests.secret(UInt8($0)) }
            let tags = DiscoveryTag.all(subject(lap), for: secrets, hour: Self.hour, fillers: fillers)
            return [
                "id": .bytes(lap.bytes), "instance": .bytes(Self.instance), "port": .number(Self.port),
                "hour": .number(Self.hour), "peers": .number(count), "tags": .bytes(tags.joined()),
            ]
        }
    }

    private func records() -> [JSON] {
        let tags = (0..<62).map { [UInt8](repeating: UInt8($0), count: DiscoveryTag.size) }
        let whole = Announcement(tags: tags, name: "")
        let named = Announcement(tags: Array(tags.prefix(8)), name: "K\u{FC}che")
        let version = Array("v=1".utf8)
        func entry(_ key: String, _ value: [UInt8] = []) -> [UInt8] { Array("\(key)=".utf8) + value }
        let one = tags[1]
        let cases: [(String, [[UInt8]])] = [
            ("a device with 62 tags", whole.text), ("a device that lets itself be discovered", named.text),
            ("another version", [Array("v=2".utf8), entry("t", one)]), ("no version", [entry("t", one)]),
            ("a version without a value", [Array("v".utf8), entry("t", one)]),
            (
                "letters of the other case, another order, and a key that nobody knows",
                [entry("x", one), entry("T", one), entry("V", [0x31])]
            ),
            (
                "of a key that comes twice the first counts",
                [version, entry("t", one), entry("t", tags[2]), entry("n", [0x61]), entry("N", [0x62])]
            ),
            ("part of a tag behind one", [version, entry("t", one + [9])]),
            ("no value", [version, Array("t".utf8)]),
            ("a name that is not UTF-8", [version, entry("t", one), entry("n", [0xFF, 0xFE])]),
            (
                "a name with characters that cannot be seen",
                [version, entry("n", Array("a\u{1B}b\u{202E}c".utf8))]
            ),
            ("nothing", []),
        ]
        return cases.map { name, strings in
            let read = Announcement(text: strings)
            return [
                "name": .text(name), "strings": .list(strings.map { .bytes($0) }),
                "isUnderstood": .truth(read != nil),
                "tags": .list(read?.tags.map { .bytes($0) } ?? []), "shownName": .text(read?.name ?? ""),
            ]
        }
    }

    /// Whose an announcement is, by the clock of the device that has it.
    private func recognized() -> [JSON] {
        let tag = DiscoveryTag.make(subject(lap), for: secret, hour: Self.hour)
        let hours: [Int64] = [-2, -1, 0, 1, 2]
        return hours.map { late in
            let hour = UInt64(Int64(Self.hour) + late)
            let found = DiscoveryTag.device(
                [Self.row(0, 8), tag], instance: Self.instance, port: Self.port, hour: hour,
                among: [(device: phone, secret: secret), (device: lap, secret: secret)])
            return [
                "tags": .list([.bytes(Self.row(0, 8)), .bytes(tag)]), "instance": .bytes(Self.instance),
                "port": .number(Self.port), "hour": .number(hour), "K": .bytes(secret.bytes),
                "peers": .list([.bytes(phone.bytes), .bytes(lap.bytes)]),
                "device": .orNull(found?.bytes),
            ]
        }
    }
}
