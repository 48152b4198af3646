// SPDX-License-Identifier: LGPL-2.1-or-later

/// The folders that documents of other devices have been placed in since the adapter began.
struct ReceivedFolders {
    private var paths: Set<String> = []

    /// How many are remembered; nobody chooses as many.
    static let maximum = 64

    /// There is one at `path`, an absolute path without a slash at its end.
    /// - Returns: whether that is new.
    @discardableResult
    mutating func insert(_ path: String) -> Bool {
        paths.count < Self.maximum && paths.insert(path).inserted
    }

    /// Whether the file at `path` is in one of them, or in a folder of one.
    func hold(_ path: String) -> Bool {
        paths.contains { path.utf8.count > $0.utf8.count + 1 && path.utf8.starts(with: "\($0)/".utf8) }
    }
}
