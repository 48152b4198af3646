// SPDX-License-Identifier: LGPL-2.1-or-later

/// Another device of the user's, which an activity comes from or is continued on.
public struct ContinuationDevice: Hashable, Sendable, Identifiable {
    /// 64 hexadecimal digits that identify it.
    public let id: String
    /// What its user calls it, to be shown as plain text.
    public let name: String

    package init(id: String, name: String) {
        self.id = id
        self.name = name
    }
}
