// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FuzzSupport
import LibdbusReference

/// Bytes and values, to be taken for the same by libdbus and by this project.
enum MarshallingTest {
    static func run(_ bytes: [UInt8]) {
        check(bytes)
        // Most bytes are no message, but each makes values.
        var (choices, values): (Choices, [Value]) = (Choices(bytes), [])
        repeat { values.append(choices.value(depth: 40)) } while !choices.isAtEnd && values.count < 4
        guard let ours = try? Coding.encode(values) else { return }
        let theirs = Libdbus.call(of: values)
        require(ours == theirs, "\(values) are \(ours), by libdbus \(theirs)")
        check(ours)
        guard let first = bytes.first else { return }
        // What is almost a message tells more than what is none.
        var damaged = ours
        for (index, byte) in bytes.suffix(4).enumerated() {
            damaged[(Int(first) * (index + 1) + Int(byte)) % damaged.count] = byte
        }
        check(damaged)
    }

    private static func check(_ bytes: [UInt8]) {
        let message = try? Message.demarshal(bytes)
        if let message, Libdbus.refusesBeginning(of: message) { return }
        require((message != nil) == Libdbus.takes(bytes), "\(message == nil ? "refused" : "taken"): \(bytes)")
        guard let message, let reference = Libdbus.message(bytes) else { return }
        defer { Libdbus.free(reference) }
        // What takes too much memory is refused by this project alone.
        guard let ours = try? Libdbus.ours(message) else { return }
        let theirs = Libdbus.description(of: reference)
        require(ours == theirs, "read as \(ours), by libdbus as \(theirs)")
    }
}
