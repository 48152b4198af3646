// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

extension ContinuationRunner {
    /// Whether the user keeps out what continues the activity.
    var isExcluded: Bool { owner.applications.isExcluded(applicationID, registered?.name.text) }

    /// The user has excluded what continues the activity. What has not been handed over fails; the application no longer
    /// holds what has been, and its streams end.
    func exclude() {
        guard let application = applicationID else { return }
        perform(machine.excluded(application))
        owner.released(id)
    }

    /// Throws if the user keeps `application` out, which is about to be given the page or the document, or has switched off
    /// the adapter that it belongs to.
    func checkExcluded(_ application: ApplicationID) throws(HandoffFailure) {
        let registry = owner.applications.registry
        guard !registry.isExcluded(application) else { throw .excluded(application) }
        guard !registry.isSwitchedOff(application) else { throw .switchedOff(application) }
    }
}
