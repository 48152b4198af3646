// SPDX-License-Identifier: LGPL-2.1-or-later

/// What a notification server shows of the agent's, as an agent writes it down for the next one.
struct NoticeRecord: Equatable {
    /// The bus, by the identifier that the bus gives it, since the names of another bus are the same.
    let bus: String
    /// The server, by its unique name.
    let server: String
    /// The numbers that it has given.
    let numbers: Set<UInt32>

    /// How many bytes a record may have.
    static let maximumSize = 4096
    private static let maximumNumbers = 128

    /// A record of this.
    init(bus: String, server: String, numbers: Set<UInt32>) {
        self.bus = bus
        self.server = server
        self.numbers = Set(numbers.sorted().suffix(Self.maximumNumbers))
    }

    /// The record that `bytes` are; nil if they are none.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maximumSize, let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        let lines = text.split(separator: "\n")
        guard lines.count >= 2, lines.count <= 2 + Self.maximumNumbers else { return nil }
        let numbers = lines.dropFirst(2).compactMap { UInt32($0) }
        guard numbers.count == lines.count - 2 else { return nil }
        self.init(bus: String(lines[0]), server: String(lines[1]), numbers: Set(numbers))
    }

    /// How it is written.
    var bytes: [UInt8] {
        Array(([bus, server] + numbers.sorted().map { String($0) }).map { $0 + "\n" }.joined().utf8)
    }
}
