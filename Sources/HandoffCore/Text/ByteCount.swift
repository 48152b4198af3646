// SPDX-License-Identifier: LGPL-2.1-or-later

/// Numbers of bytes for people.
public enum ByteCount {
    /// The number in a unit that suits it, and exactly where it is small.
    public static func text(_ bytes: UInt64) -> String {
        for (size, unit) in [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")] as [(UInt64, String)]
        where bytes >= size {
            let tenths = (bytes / (size / 10))
            return "\(tenths / 10).\(tenths % 10) \(unit)"
        }
        return "\(bytes) bytes"
    }
}
