// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

extension ContinuationRunner {
    /// Opens the activity's web page in the user's browser.
    func openWebPage() async {
        perform(machine.openFailed(HandoffFailure(.notSupported, "This version of Handoff opens no pages.")))
    }
}
