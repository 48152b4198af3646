// SPDX-License-Identifier: LGPL-2.1-or-later

/// Something that a ``BusBackend`` does once, later, unless it is cancelled before.
@MainActor
package final class BackendTimer {
    private var body: (@MainActor () -> Void)?
    private var end: (@MainActor () -> Void)?

    /// A timer that calls `body`.
    package init(_ body: @escaping @MainActor () -> Void) { self.body = body }

    /// Calls `end`, at once if the timer is over already, else as soon as it is.
    package func whenOver(_ end: @escaping @MainActor () -> Void) {
        if body == nil { end() } else { self.end = end }
    }

    /// The time has come.
    package func fire() { finish()?() }

    /// It is not wanted any more. Harmless when it is over.
    package func cancel() { _ = finish() }

    private func finish() -> (@MainActor () -> Void)? {
        let (body, end) = (body, end)
        (self.body, self.end) = (nil, nil)
        end?()
        return body
    }
}
