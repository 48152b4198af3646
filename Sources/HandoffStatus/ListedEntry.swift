// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient

/// What a daemon lists in a property, each as a dictionary (`aa{sv}`).
package protocol ListedEntry {
    /// The entry that these properties describe.
    init(_ properties: [String: Value])
}

extension ListedEntry {
    /// The entries in `value`, in its order; none if there is no such property.
    package static func all(in value: Value?) -> [Self] { Value.propertyList(value).map { Self($0) } }
}
