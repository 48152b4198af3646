// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus

/// A place in a text. Both numbers begin with 1; columns count characters (Unicode scalars).
struct TextPlace: Equatable, Sendable {
    /// The line.
    let line: Int
    /// The column.
    let column: Int

    /// What a line or column can be. No editor has trouble with that.
    static let range: ClosedRange<Int64> = 1...10_000_000
    /// Where a text begins.
    static let start = TextPlace(line: 1, column: 1)

    private init(line: Int, column: Int) { (self.line, self.column) = (line, column) }

    /// The place with these numbers; nil if there can be none.
    init?(_ line: Int64?, _ column: Int64?) {
        guard let line, let column, Self.range.contains(line), Self.range.contains(column) else { return nil }
        (self.line, self.column) = (Int(line), Int(column))
    }

    /// The place that a message of a plugin names; nil if it names none.
    init?(_ message: JSONValue) { self.init(message["line"]?.integer, message["column"]?.integer) }

    /// The place that a `UserInfo` names. What is not a place there is the start: whoever wrote it is not trusted, and the
    /// file is of use without it.
    init(_ userInfo: [String: Value]) {
        self = Self(Self.number(userInfo["line"]), Self.number(userInfo["column"])) ?? .start
    }

    private static func number(_ value: Value?) -> Int64? {
        if case .uint32(let number)? = value { Int64(number) } else { nil }
    }

    /// The entries of a `UserInfo` that name it.
    var entries: [String: Value] { ["line": .uint32(UInt32(line)), "column": .uint32(UInt32(column))] }
}
