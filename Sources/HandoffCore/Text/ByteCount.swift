// SPDX-License-Identifier: LGPL-2.1-or-later

/// Numbers of bytes for people.
package enum ByteCount {
    private static let units = ["kB", "MB", "GB", "TB"]

    /// The number with a unit that suits it, with at least three digits, or exactly where it is small.
    package static func text(_ bytes: UInt64) -> String {
        guard bytes >= 1000 else { return "\(bytes) B" }
        var (value, unit) = (Double(bytes) / 1000, 0)
        while value >= 999.5, unit + 1 < units.count { (value, unit) = (value / 1000, unit + 1) }
        guard value < 99.95 else {
            // What is larger than any disk is less than what an integer can be.
            return "\(UInt64(value.rounded())) \(units[unit])"
        }
        let tenths = UInt64((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}
