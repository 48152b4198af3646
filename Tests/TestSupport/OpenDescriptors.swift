// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Foundation

/// What a descriptor refers to, to be found again among the open descriptors of this process.
///
/// Tests run side by side, so the number of all descriptors says nothing about one of them.
package struct OpenFile: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// What `descriptor` refers to, nil if it is not open.
    package init?(_ descriptor: Int32) {
        var file = stat()
        guard fstat(descriptor, &file) == 0 else { return nil }
        (device, inode) = (UInt64(file.st_dev), UInt64(file.st_ino))
    }

    /// How many descriptors of this process refer to it.
    package var count: Int {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return numbers.compactMap { Int32($0).flatMap { OpenFile($0) } }.filter { $0 == self }.count
    }
}
