// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// Decides when a call that has arrived runs: at once, later, or never.
@MainLoop
package protocol CallGate: AnyObject {
    /// Whether this gate decides about calls of `caller`; all other calls run at once.
    func concerns(_ caller: Caller) -> Bool
    /// Calls `run` once, now or later, with nil, or with the error that the call is to be answered with
    /// instead. If `run` is called within ``MainLoop/charge(_:_:)``, the call runs at the expense of that
    /// account.
    func admit(_ call: Message, from caller: Caller, _ run: @escaping @MainLoop (DBusError?) -> Void)
}

/// Whether a gate is being asked about a call, or lets it through later than it came.
@MainLoop
final class GateQuestion { var isNow = true }
