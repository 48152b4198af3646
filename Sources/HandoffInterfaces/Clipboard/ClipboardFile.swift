// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
package import DBus
internal import Glibc
package import HandoffCore

/// The content of a clipboard as one of its types, in a file in memory (memfd_create(2)) that nobody can change any more. It is
/// handed on between processes as it is.
package final class ClipboardFile: Sendable {
    /// How many bytes a content has at most.
    package static let maximum = 32 << 20

    /// How many bytes there are.
    package let size: Int
    private let descriptor: FileDescriptor

    /// What was written, which nobody can change from now on.
    fileprivate init(sealing writer: consuming Writer) throws(HandoffFailure) {
        size = writer.count
        descriptor = writer.take()
        guard fcntl(descriptor.number, Self.addSeals, Self.seals) == 0 else { throw Self.noMemory }
    }

    /// A file with these bytes.
    /// - Throws: `LimitsExceeded` if they are too many, or there is no memory for them.
    package convenience init(_ bytes: [UInt8]) throws(HandoffFailure) {
        var writer = try Writer()
        do {
            try bytes.withUnsafeBytes { try writer.append($0) }
        } catch {
            throw error as? HandoffFailure ?? Self.noMemory
        }
        try self.init(sealing: writer)
    }

    /// The file that another process has given.
    /// - Throws: `InvalidArgs` if it is none in memory, or could still be changed; `LimitsExceeded` if it is too large.
    package init(checking given: consuming FileDescriptor) throws(HandoffFailure) {
        let seals = fcntl(given.number, Self.getSeals)
        guard seals >= 0, seals & Self.seals == Self.seals else {
            throw HandoffFailure(
                .invalidArguments,
                "The content has to be a file in memory that nobody can change: memfd_create(2), and then F_ADD_SEALS with"
                    + " F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE.")
        }
        var status = stat()
        guard fstat(given.number, &status) == 0, status.st_size <= Self.maximum else { throw Self.tooLarge }
        size = Int(status.st_size)
        descriptor = given
    }

    /// All bytes.
    package func bytes() throws(HandoffFailure) -> [UInt8] { try bytes(in: 0..<size) }

    /// The bytes at these offsets, which are all within ``size``.
    package func bytes(in range: Range<Int>) throws(HandoffFailure) -> [UInt8] {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, initialized in
            let buffer = UnsafeMutableRawBufferPointer(buffer)
            while count < range.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count..<range.count])
                let more = read(rest, at: range.lowerBound + count)
                guard more > 0 else { break }
                count += more
            }
            initialized = count
        }
        guard count == range.count else { throw Self.noMemory }
        return bytes
    }

    /// The first bytes, so many at most.
    package func bytes(atMost count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(0, read(UnsafeMutableRawBufferPointer(buffer), at: 0))
        }
    }

    /// Reads what is at `offset`.
    /// - Returns: the number of bytes, 0 at the end; negative with `errno` set if that fails.
    package func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        while true {
            let count = pread(descriptor.number, buffer.baseAddress, buffer.count, offset)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// A descriptor of it for somebody else, who reads from the beginning.
    package func handedOut() throws(HandoffFailure) -> FileDescriptor {
        // A duplicate would share the place that is read at.
        let number = open("/proc/self/fd/\(descriptor.number)", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw Self.noMemory }
        return FileDescriptor(owning: number)
    }

    // fcntl(2); the importer does not see these macros.
    fileprivate static let addSeals: Int32 = 1033
    fileprivate static let getSeals: Int32 = 1034
    /// F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE.
    fileprivate static let seals: Int32 = 0x2 | 0x4 | 0x8

    /// It has more bytes than there may be.
    package static let tooLarge = HandoffFailure(
        .limitsExceeded,
        "The content of the clipboard has more than \(maximum >> 20) MiB. Save it as a file, and hand that off."
    )

    fileprivate static let noMemory = HandoffFailure(
        .limitsExceeded,
        "There is no memory for the content of the clipboard. Close something, and try again.")

    /// Makes such a file, piece by piece.
    package struct Writer: ~Copyable, Sendable {
        private let descriptor: FileDescriptor
        /// How many bytes there are by now.
        package private(set) var count = 0

        /// An empty one.
        package init() throws(HandoffFailure) {
            let number = handoff_memory_file("clipboard")
            guard number >= 0 else { throw ClipboardFile.noMemory }
            descriptor = FileDescriptor(owning: number)
        }

        /// Adds `bytes`.
        /// - Throws: `LimitsExceeded` if there are too many.
        package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(HandoffFailure) {
            guard count + bytes.count <= ClipboardFile.maximum else { throw ClipboardFile.tooLarge }
            var rest = bytes
            while !rest.isEmpty {
                let written = write(descriptor.number, rest.baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw ClipboardFile.noMemory }
                count += written
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
        }

        /// The file, which nobody can change any more.
        package consuming func finish() throws(HandoffFailure) -> ClipboardFile {
            try ClipboardFile(sealing: self)
        }

        fileprivate consuming func take() -> FileDescriptor { descriptor }
    }
}
