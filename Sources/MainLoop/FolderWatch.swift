// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// Tells when something happens in folders that are watched.
@MainLoop
package final class FolderWatch {
    private var watched: WatchedFolders?
    private var source: DescriptorSource?
    /// Says that it can be tried again.
    private var retry: LoopSource?
    private let body: @MainLoop () -> Void

    /// Calls `body` after something has changed, once for all that changed at the same time. Nothing is
    /// watched yet.
    package init(_ body: @escaping @MainLoop () -> Void) { self.body = body }

    private static let retryInterval = Duration.seconds(5)

    isolated deinit { source?.cancel() }

    /// From now on tells of changes in `watched`, including those since that was made, and no longer of any
    /// others. Nil stands for folders that could not be watched: then it goes on as before, and `body` is
    /// called a few seconds later, so that it can be tried again.
    package func watch(_ watched: WatchedFolders?) {
        retry = nil
        guard let watched else {
            retry = .timer(after: Self.retryInterval) { [weak self] in self?.body() }
            return
        }
        source?.cancel()
        source = DescriptorSource(watched.descriptor, .readable) { [weak self] _ in self?.read() }
        self.watched = watched
    }

    private func read() {
        guard let watched else { return }
        var buffer = [UInt8](repeating: 0, count: 8192)
        var isChanged = false
        while true {
            let count = Glibc.read(watched.descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            if watched.isConcerned(by: buffer[..<count]) { isChanged = true }
        }
        if isChanged { body() }
    }
}
