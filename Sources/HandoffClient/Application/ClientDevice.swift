// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus

/// The other device of a continuation, as the broker names it.
package struct ClientDevice: Hashable, Sendable {
    /// 64 hexadecimal digits.
    package let id: String
    /// What its user calls it, to be treated as plain text.
    package let name: String

    /// The device that `context` names.
    package init(_ context: [String: Value]) {
        id = context.text("DeviceId")
        name = context.text("DeviceName")
    }
}
