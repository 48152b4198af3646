// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// The end of an adapter that has had nothing to do for a while.
@MainLoop
package final class IdleEnd {
    private let service: AdapterService
    private let patience: Duration
    private let isBusy: @MainLoop () -> Bool
    private var rest: LoopSource?

    /// Ends `service` when ``check()`` has been called and `isBusy` has said no, and no other call has come for `patience`.
    package init(
        of service: AdapterService, after patience: Duration, unless isBusy: @escaping @MainLoop () -> Bool
    ) {
        (self.service, self.patience, self.isBusy) = (service, patience, isBusy)
    }

    /// Whether there is anything to do may be different.
    package func check() {
        rest =
            isBusy()
            ? nil : .timer(after: patience) { [service] in service.finish("nothing is to be done.") }
    }
}
