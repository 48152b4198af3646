// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// Whoever is told of signals that a connection gets, and of its end.
@MainLoop
final class Listeners {
    private struct Listener {
        let interface: InterfaceName
        let member: MemberName?
        let body: @MainLoop (Message) -> Void
    }

    private var listeners: [Int: Listener] = [:]
    private var closings: [Int: @MainLoop (DBusError) -> Void] = [:]
    private var latest = 0

    /// Calls `body` with each signal of the name, in whatever order it came.
    func add(
        _ interface: InterfaceName, _ member: MemberName?, _ body: @escaping @MainLoop (Message) -> Void
    ) -> SignalToken {
        latest += 1
        listeners[latest] = Listener(interface: interface, member: member, body: body)
        return SignalToken(self, latest)
    }

    /// Calls `body` once the connection has ended.
    func add(_ body: @escaping @MainLoop (DBusError) -> Void) -> SignalToken {
        latest += 1
        closings[latest] = body
        return SignalToken(self, latest)
    }

    fileprivate func remove(_ number: Int) {
        listeners[number] = nil
        closings[number] = nil
    }

    /// Tells whoever listens to `signal`, in the order in which they began to.
    func tell(_ signal: Message) {
        let numbers = listeners.filter { signal.isMember($1.member, of: $1.interface) }.keys.sorted()
        for number in numbers { listeners[number]?.body(signal) }
    }

    /// The connection has ended because of `error`.
    func tell(_ error: DBusError) {
        let bodies = closings.sorted { $0.key < $1.key }
        closings = [:]
        for (_, body) in bodies { body(error) }
    }
}

/// Keeps a listener alive; freeing it ends that.
@MainLoop
package final class SignalToken {
    private weak var listeners: Listeners?
    private let number: Int

    fileprivate init(_ listeners: Listeners, _ number: Int) {
        self.listeners = listeners
        self.number = number
    }

    isolated deinit { listeners?.remove(number) }
}
