// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
package import MainLoop

/// What applications were started for, by their ids, until their plugins take it.
@MainLoop
package final class Pendings<Content: Sendable> {
    private var pending: [String: Pending] = [:]

    @MainLoop
    private struct Pending {
        let content: Content
        let taken = Awaited<Bool>()
    }

    /// Nothing is kept yet.
    package init() {}

    /// Keeps `content` for the application `id` while `body` runs. That is given a way to wait until it is taken: for at most
    /// so long, and whether it was.
    package func keep(
        _ content: Content, for id: String,
        while body: @MainLoop (@MainLoop (Duration) async -> Bool) async throws -> Void
    ) async throws {
        let mine = Pending(content: content)
        pending[id] = mine
        defer { if pending[id]?.taken === mine.taken { pending[id] = nil } }
        try await body { await mine.taken.value(within: $0) ?? false }
    }

    /// Takes what is kept for the application `id`, once.
    package func take(_ id: String) -> Content? {
        guard let pending = pending.removeValue(forKey: id) else { return nil }
        pending.taken.come(true)
        return pending.content
    }
}
