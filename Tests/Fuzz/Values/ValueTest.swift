// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FuzzSupport

/// Values of any type, however deep: each can be sent or is refused.
enum ValueTest {
    static func run(_ bytes: [UInt8]) {
        var choices = Choices(bytes)
        var values: [Value] = []
        repeat {
            if let value = value(&choices) { values.append(value) }
        } while !choices.isAtEnd && values.count < 4
        guard let bytes = try? Coding.encode(values) else { return }
        Coding.check(bytes, are: values)
    }

    private static func value(_ choices: inout Choices) -> Value? {
        switch choices.below(16) {
        case 0:
            // Deeper than a signature can be.
            var value = choices.value()
            let (count, mask) = (choices.below(70), choices.byte())
            for index in 0..<count { value = mask >> (index & 7) & 1 == 0 ? .variant(value) : wrapped(value) }
            return value
        case 1:
            // Of types that need not be any, or not those of the contents.
            let signature = choices.text(atMost: 7)
            return try? .array(of: signature, (0..<choices.below(3)).map { _ in choices.value(depth: 2) })
        case 2:
            let (key, value) = (choices.text(atMost: 2), choices.text(atMost: 7))
            let entries = (0..<choices.below(2)).map { _ in
                (key: choices.value(depth: 1), value: choices.value(depth: 2))
            }
            return try? .dictionary(key: key, value: value, entries)
        case 3: return .string(String(decoding: choices.bytes(atMost: 15), as: UTF8.self))
        default: return choices.value()
        }
    }

    private static func wrapped(_ value: Value) -> Value { (try? .structure([value])) ?? value }
}
