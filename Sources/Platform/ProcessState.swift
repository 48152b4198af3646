// SPDX-License-Identifier: LGPL-2.1-or-later

/// What the kernel says about other processes.
package enum ProcessState {
    /// Whether the process no longer runs: there is none with this id, or it is only waiting for its parent
    /// (proc(5), `stat`).
    package static func hasEnded(_ process: UInt32) -> Bool {
        let bytes = (try? SmallFile.read("/proc/\(process)/stat", maximumSize: 4096)) ?? nil
        guard let bytes, let letter = letter(ofStat: bytes) else { return true }
        return "ZXx".utf8.contains(letter)
    }

    /// The letter for the state of a process whose `stat` holds `bytes` (proc(5)); nil if it holds none.
    package static func letter(ofStat bytes: some BidirectionalCollection<UInt8>) -> UInt8? {
        // The name of the program, in parentheses, may contain any characters.
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        return bytes[end...].dropFirst(2).first
    }
}
