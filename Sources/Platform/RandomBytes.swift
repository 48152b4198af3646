// SPDX-License-Identifier: LGPL-2.1-or-later

/// Bytes that nobody can predict.
public enum RandomBytes {
    /// `count` random bytes from the kernel.
    public static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
        return Array(bytes.prefix(count))
    }
}
