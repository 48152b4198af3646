// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc

/// Watches folders for files that come, go and change (inotify(7)), including folders that do not exist yet.
@MainLoop
public final class FolderWatch {
    private var descriptor: Int32 = -1
    private var source: DescriptorSource?
    /// Tries again when there was no descriptor.
    private var retry: LoopSource?
    /// What counts in a watched folder: nil if everything does, otherwise the name that is waited for.
    private var names: [Int32: String?] = [:]
    private let body: @MainLoop () -> Void

    /// Calls `body` after something has changed, once for all that changed at the same time. Nothing is
    /// watched yet. If there is no descriptor left for watching, that is tried again every few seconds, and
    /// `body` is called once it succeeds.
    public init(_ body: @escaping @MainLoop () -> Void) { self.body = body }

    private static let retryInterval = Duration.seconds(5)

    private func begin() -> Bool {
        if descriptor >= 0 { return true }
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return false }
        source = DescriptorSource(descriptor, .readable) { [weak self] _ in self?.read() }
        return true
    }

    isolated deinit {
        source?.cancel()
        if descriptor >= 0 { close(descriptor) }
    }

    /// Watches these folders, and of the folders that `files` are in only what concerns those, and no longer any others.
    public func watch(_ folders: [String], files: [String] = []) {
        retry = nil
        guard begin() else {
            retry = .timer(after: Self.retryInterval) { [weak self] in
                guard let self else { return }
                watch(folders, files: files)
                if descriptor >= 0 { body() }
            }
            return
        }
        let former = Set(names.keys)
        names = [:]
        for folder in folders { watch(folder, waitingFor: nil) }
        for file in files { watchParent(of: file) }
        for number in former.subtracting(names.keys) { _ = inotify_rm_watch(descriptor, number) }
    }

    /// Watches `folder`, or if it does not exist, the nearest one above it that does.
    private func watch(_ folder: String, waitingFor name: String?) {
        let changes =
            IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF
            | IN_MOVE_SELF
        let number = inotify_add_watch(descriptor, folder, UInt32(changes) | UInt32(IN_ONLYDIR))
        guard number < 0 else {
            // If two names are waited for in a folder, everything in it counts.
            let isWhole = names[number].map { $0 == nil || $0 != name } ?? (name == nil)
            names[number] = .some(isWhole ? nil : name)
            return
        }
        watchParent(of: folder)
    }

    /// Watches the folder that `path` is in for what concerns `path`.
    private func watchParent(of path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard let last = parts.last, path.hasPrefix("/") else { return }
        watch("/" + parts.dropLast().joined(separator: "/"), waitingFor: String(last))
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 8192)
        var isChanged = false
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            if concerns(buffer[..<count]) { isChanged = true }
        }
        if isChanged { body() }
    }

    /// Whether one of these events counts.
    private func concerns(_ events: ArraySlice<UInt8>) -> Bool {
        let header = MemoryLayout<inotify_event>.size
        var rest = events
        var isConcerned = false
        while rest.count >= header {
            let event = rest.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
            let name = rest.dropFirst(header).prefix(Int(event.len)).prefix { $0 != 0 }
            rest = rest.dropFirst(header + Int(event.len))
            guard let expected = names[event.wd] else {
                // There were too many events at once, so anything may have changed.
                if event.wd < 0 { isConcerned = true }
                continue
            }
            if expected.map({ name.elementsEqual($0.utf8) || event.len == 0 }) ?? true { isConcerned = true }
        }
        return isConcerned
    }
}
