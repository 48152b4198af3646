// SPDX-License-Identifier: LGPL-2.1-or-later
import AdapterSupport
import FuzzSupport
import Platform

/// JSON from the add-ons of applications, which is what pages and files make them write.
enum JSONTest {
    static func run(_ bytes: [UInt8]) {
        guard let value = try? JSONValue.read(bytes, maximumDepth: 8) else { return }
        require(depth(value) <= 8, "\(value) is too deep")
        let written = value.bytes
        require(!written.contains { $0 < 0x20 }, "\(written) is more than a line")
        guard let again = try? JSONValue.read(written, maximumDepth: 8) else {
            return require(false, "\(written) is not read")
        }
        require(again == value, "\(value) comes back as \(again)")
        require((try? JSONValue.read(written + [UInt8(ascii: ",")])) == nil, "more is read than there is")
    }

    private static func depth(_ value: JSONValue) -> Int {
        switch value {
        case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(depth).max() ?? 0)
        default: 0
        }
    }
}
