// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import MainLoop

/// The activation token that a caller has given for what it will ask for next. Only the latest is kept.
@MainLoop
package final class OfferedToken {
    private var latest: (text: String, caller: BusName?, time: Int64)?

    /// How long, in microseconds, a token waits for what it was given for: the display server forgets it too.
    private static let life: Int64 = 10_000_000

    /// There is none.
    package init() {}

    /// Keeps `text` for `caller`, unless it is no token.
    package func keep(_ text: String, of caller: Caller, at now: Int64 = MainLoop.now) {
        latest = ActivationToken.checked(text).map { ($0, caller.name, now) }
    }

    /// The token that `caller` has given, which is used up with this; empty if there is none.
    package func take(by caller: Caller, at now: Int64 = MainLoop.now) -> String {
        guard let token = latest, token.caller == caller.name else { return "" }
        latest = nil
        return now - token.time <= Self.life ? token.text : ""
    }
}
