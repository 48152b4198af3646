// SPDX-License-Identifier: LGPL-2.1-or-later

/// The names of MIME types (RFC 6838, section 4.2).
package enum MIMEType {
    /// Whether `type` has the form of a MIME type, in lower case.
    package static func isValid(_ type: String) -> Bool {
        let parts = type.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let legal = Set("abcdefghijklmnopqrstuvwxyz0123456789!#$&^_.+-".utf8)
        return parts.count == 2 && type.utf8.count <= 255
            && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(legal.contains) }
    }
}
