// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffInterfaces
package import MainLoop

/// What applications were started for, by their ids, until their plugins take it.
@MainLoop
package final class Pendings<Content: Sendable> {
    /// Of each application, what came first is taken first.
    private var pending: [String: [Pending]] = [:]

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
        pending[id, default: []].append(mine)
        defer {
            let rest = (pending[id] ?? []).filter { $0.taken !== mine.taken }
            pending[id] = rest.isEmpty ? nil : rest
        }
        try await body { await mine.taken.value(within: $0) ?? false }
    }

    /// Takes what is kept for the application `id`, once.
    package func take(_ id: String) -> Content? {
        guard let first = pending[id]?.first else { return nil }
        pending[id]?.removeFirst()
        first.taken.come(true)
        return first.content
    }
}

extension Bus {
    /// Takes what `adapter` has started `application` for; empty if there is nothing.
    package func takePending(_ application: String, of adapter: BusName) async -> [String: Value] {
        guard let owner = try? await identifiedOwner(of: adapter), owner.sandbox == nil, let name = owner.name
        else { return [:] }
        let adapter = EditorAdapterProxy(RemoteObject(connection, name, HandoffNames.editorAdapterPath))
        return (try? await adapter.takePending(editor: application)) ?? [:]
    }
}
