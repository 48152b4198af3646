// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

/// The state that the continuing application needs, in the application's own keys, with exact types.
///
/// It is written as a literal, and read with the types that are wanted:
///
/// ```swift
/// let info: UserInfo = ["name": "Ada", "age": 36]
/// let age = info["age", as: Int.self]
/// ```
public struct UserInfo: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// The entries.
    public var entries: [String: UserInfoValue]

    /// No entries.
    public init() { entries = [:] }

    /// These entries.
    public init(_ entries: [String: UserInfoValue]) { self.entries = entries }

    /// The entries of a literal; of a key that comes twice the last counts.
    public init(dictionaryLiteral elements: (String, UserInfoValue)...) {
        entries = Dictionary(elements) { _, last in last }
    }

    /// Whether there are no entries.
    public var isEmpty: Bool { entries.isEmpty }

    /// The keys of all entries.
    public var keys: Set<String> { Set(entries.keys) }

    /// The value of `key` as it is, nil for none.
    public subscript(key: String) -> UserInfoValue? {
        get { entries[key] }
        set { entries[key] = newValue }
    }

    /// The value of `key` if it is of this type and fits into it, else nil. Setting nil removes the entry.
    ///
    /// A number is found whatever the width with which the other side has sent it, as long as nothing of it is lost.
    public subscript<Wanted: UserInfoConvertible>(key: String, as type: Wanted.Type) -> Wanted? {
        get { entries[key].flatMap { Wanted(userInfoValue: $0) } }
        set { entries[key] = newValue?.userInfoValue }
    }

    /// Adds the entries of `other`, which take the place of those with the same keys.
    public mutating func merge(_ other: UserInfo) {
        entries.merge(other.entries) { _, new in new }
    }
}

extension UserInfo {
    /// The entries that a bus has carried.
    package init(properties: [String: DBus.Value]) throws(HandoffError) {
        entries = [:]
        for (key, value) in properties {
            do {
                entries[key] = try UserInfoValue(value)
            } catch {
                throw HandoffError(error.code, "UserInfo key \"\(key)\" \(error.message)")
            }
        }
    }

    /// The entries as a bus carries them.
    package func dbusProperties() throws(HandoffError) -> [String: DBus.Value] {
        var result: [String: DBus.Value] = [:]
        for (key, value) in entries {
            do {
                result[try UserInfoValue.checked(key)] = try value.dbusValue()
            } catch {
                throw HandoffError(error.code, "UserInfo key \"\(key)\" \(error.message)")
            }
        }
        return result
    }
}
