// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Synchronization

/// What happens on the main loop, in order, until the main actor takes it.
///
/// An `AsyncStream` would pass each element by a thread of libdispatch's pool, and a pool that was used once wakes the
/// process every second from then on.
final class BusEventQueue: Sendable {
    private struct State {
        var events: [BusEvent] = []
        /// Whether the main actor will look at them.
        var isAnnounced = false
        var isOver = false
    }

    private let state = Mutex(State())
    /// Who takes the events; without it they are refused.
    @MainActor weak var taker: BusBackend?

    /// Passes `event` on after all that were passed before. Once it is over, the event is refused.
    func add(_ event: BusEvent) {
        let (isOver, isFirst) = state.withLock { state in
            if state.isOver { return (true, false) }
            state.events.append(event)
            defer { state.isAnnounced = true }
            return (false, !state.isAnnounced)
        }
        if isOver { event.refuse() }
        if isFirst { Task { @MainActor in passAll() } }
    }

    /// Nothing more is passed on than what was added before.
    func end() { state.withLock { $0.isOver = true } }

    @MainActor
    private func passAll() {
        let events = state.withLock { state in
            defer { (state.events, state.isAnnounced) = ([], false) }
            return state.events
        }
        for event in events {
            if let taker { taker.happened(event) } else { event.refuse() }
        }
    }
}
