// SPDX-License-Identifier: LGPL-2.1-or-later

/// What the kernel says about other processes.
public enum ProcessState {
    /// Whether the process no longer runs: there is none with this id, or it is only waiting for its parent
    /// (proc(5), `stat`).
    public static func hasEnded(_ process: UInt32) -> Bool {
        let bytes = (try? SmallFile.read("/proc/\(process)/stat", maximumSize: 4096)) ?? nil
        // The name, in parentheses, may contain any characters.
        guard let bytes, let end = bytes.lastIndex(of: UInt8(ascii: ")")), end + 2 < bytes.count else {
            return true
        }
        return bytes[end + 2] == UInt8(ascii: "Z") || bytes[end + 2] == UInt8(ascii: "X")
    }
}
