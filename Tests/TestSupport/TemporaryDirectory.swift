// SPDX-License-Identifier: LGPL-2.1-or-later
package import Foundation
internal import Synchronization

/// A new directory, which is removed with everything in it when the value is freed or the process ends.
package final class TemporaryDirectory: Sendable {
    /// Where it is.
    package let url: URL

    /// Makes the directory.
    package init() throws {
        // Short, as socket addresses may not be longer than 108 bytes.
        var template = Array("/tmp/handoff-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        url = URL(filePath: path)
        _ = Self.existing.withLock { $0.insert(path) }
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
        _ = Self.existing.withLock { $0.remove(url.path) }
    }

    /// The paths of those whose values live: the end of a process frees nothing.
    private static let existing: Mutex<Set<String>> = {
        atexit { TemporaryDirectory.removeAll() }
        return Mutex([])
    }()

    private static func removeAll() {
        for path in existing.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
    }

    /// The path of `name` in it.
    package func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file into it, making the folders on its way, and returns its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file.path
    }
}
