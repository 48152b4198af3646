// SPDX-License-Identifier: LGPL-2.1-or-later
import Foundation
import HandoffCore
import Testing

/// The values of the worked example in docs/protocol.md, by their names.
struct WorkedExample {
    /// Each value as it is written, without the breaks between its lines.
    let values: [String: String]

    /// Reads the fenced blocks below the heading: a name, two spaces or more, and a value, which goes on in
    /// the lines that begin with a space.
    init() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../docs/protocol.md").standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## Worked example\n").dropFirst().first)
        var (values, name, isFenced) = ([String: String](), "", false)
        for line in section.components(separatedBy: "\n") {
            if line.hasPrefix("```") {
                isFenced.toggle()
            } else if isFenced, line.hasPrefix(" ") {
                values[name, default: ""] += line.trimmingCharacters(in: .whitespaces)
            } else if isFenced {
                let gap = try #require(line.range(of: "  "), "“\(line)” has no value")
                name = String(line[..<gap.lowerBound])
                try #require(values[name] == nil, "\(name) is there twice")
                values[name] = line[gap.upperBound...].trimmingCharacters(in: .whitespaces)
            }
        }
        self.values = values
    }

    /// The text that is called `name`.
    func text(_ name: String) throws -> String { try #require(values[name], "there is no \(name)") }

    /// The bytes that are called `name`.
    func bytes(_ name: String) throws -> [UInt8] {
        let digits = Array(try text(name).utf8)
        try #require(digits.count % 2 == 0, "\(name) has half a byte")
        return try stride(from: 0, to: digits.count, by: 2).map {
            try #require(UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16), "\(name)")
        }
    }

    /// The device whose id is called `name`.
    func device(_ name: String) throws -> DeviceID { try #require(DeviceID(bytes: bytes(name))) }

    /// The number that is called `name`.
    func number(_ name: String) throws -> UInt64 { try bytes(name).reduce(0) { $0 << 8 | UInt64($1) } }
}
