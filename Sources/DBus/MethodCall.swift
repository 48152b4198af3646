// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// A method call that has been let through to its handler.
@MainLoop
package final class MethodCall {
    /// The call as it arrived.
    package let message: Message
    /// Who calls.
    package let caller: Caller
    private var effects: [@MainLoop () -> Void] = []

    init(_ message: Message, from caller: Caller) {
        self.message = message
        self.caller = caller
    }

    /// Keeps `effect` until the reply has been sent: what a call causes follows its reply.
    package func afterReply(_ effect: @escaping @MainLoop () -> Void) { effects.append(effect) }

    func runEffects() {
        let effects = effects
        self.effects = []
        for effect in effects { effect() }
    }

    /// A reply whose arguments `body` writes.
    package func reply(_ body: (inout MessageWriter) throws(DBusError) -> Void = { _ in }) throws -> Message {
        let reply = try Message.reply(to: message)
        var writer = MessageWriter(reply)
        try body(&writer)
        return reply
    }
}

extension Result where Failure == any Error {
    /// What `body` returns or throws.
    @MainLoop
    init(_ body: @MainLoop () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
