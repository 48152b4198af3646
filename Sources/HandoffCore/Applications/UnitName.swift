// SPDX-License-Identifier: LGPL-2.1-or-later

/// The systemd unit that an application is started in (systemd's "Desktop Environments": `app-LAUNCHER-ID-RANDOM.service`),
/// by which the desktop finds out which application a window belongs to.
package struct UnitName: Hashable, Sendable, CustomStringConvertible {
    /// The longest name of a unit, in bytes.
    private static let maximumLength = 255

    /// The name.
    package let description: String

    /// A new unit for `application`; `random` tells it from all others.
    ///
    /// An id that is so long that the name would be illegal is cut.
    package init(_ application: ApplicationID, random: UInt64) {
        let (prefix, suffix) = ("app-handoff-", "-\(Hexadecimal.digits(of: [random])).service")
        var room = Self.maximumLength - prefix.utf8.count - suffix.utf8.count
        var id = ""
        for byte in application.description.utf8 {
            let escaped = Self.escape(byte)
            room -= escaped.utf8.count
            guard room >= 0 else { break }
            id += escaped
        }
        description = prefix + id + suffix
    }

    /// As systemd-escape(1) writes the byte of an application id: a hyphen stands for something else.
    private static func escape(_ byte: UInt8) -> String {
        byte == UInt8(ascii: "-") ? "\\x2d" : String(UnicodeScalar(byte))
    }

    /// The last element of the path of the unit's object (systemd's `bus_label_escape`): all but ASCII letters and digits
    /// becomes `_` and two hexadecimal digits, and so does a digit in front.
    package var pathElement: String {
        var result = ""
        for (index, byte) in description.utf8.enumerated() {
            let isDigit = UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            if byte.isLetter || isDigit && index > 0 {
                result.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                result += "_" + Hexadecimal.digits(of: [UInt64(byte)]).suffix(2)
            }
        }
        return result
    }
}
