// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces

extension ContinuationRunner {
    /// Has the application started. That is not enough: the application also has to register.
    func startApplication(_ application: ApplicationID) async {
        do {
            try await owner.tools.starter.start(application, activationToken: activationToken)
        } catch {
            perform(machine.startFailed(HandoffFailure(routed: error)))
        }
    }
}
