// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

/// The properties of an object as the bus reports them. A property that is missing or has another type reads
/// as the empty value of its type: something may be missing from what is shown, but the rest is still shown.
extension [String: Value] {
    /// A text (`s`).
    package func text(_ name: String) -> String { self[name]?.string ?? "" }
    /// Several texts (`as`).
    package func texts(_ name: String) -> [String] { self[name]?.strings ?? [] }

    /// A boolean (`b`).
    package func flag(_ name: String) -> Bool {
        if case .boolean(let flag)? = self[name] { flag } else { false }
    }

    /// A time, in microseconds since the Unix epoch (`x`).
    package func time(_ name: String) -> Int64 {
        if case .int64(let time)? = self[name] { time } else { 0 }
    }

    /// A number with a fraction (`d`), nil if there is none.
    package func real(_ name: String) -> Double? {
        if case .double(let number)? = self[name] { number } else { nil }
    }

    /// A number that counts something.
    package func count(_ name: String) -> UInt64 {
        if case .uint64(let number)? = self[name] { number } else { 0 }
    }

    /// A small number (`q`, `u`).
    package func number(_ name: String) -> Int {
        switch self[name] {
        case .uint16(let number)?: Int(number)
        case .uint32(let number)?: Int(number)
        default: 0
        }
    }
}

extension Value {
    /// The entries of a property that is a list of dictionaries (`aa{sv}`); none if it is missing or of another type.
    package static func propertyList(_ value: Value?) -> [[String: Value]] {
        guard case .array(let array)? = value else { return [] }
        return array.elements.compactMap { $0.properties }
    }
}

/// What `GetManagedObjects` returns.
package typealias ManagedObjects = [ObjectPath: [String: [String: Value]]]
