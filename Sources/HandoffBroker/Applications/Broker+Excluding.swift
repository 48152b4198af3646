// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import MainLoop
internal import Platform

extension Broker {
    /// The user excludes these applications and no others; this takes effect at once, for those that are registered and
    /// for those that come.
    /// - Throws: if that cannot be stored; then nothing has changed.
    func setExcludedApplications(_ excluded: ExcludedApplications) throws {
        try preferences.setExcludedApplications(excluded)
        registry.excluded = excluded
    }

    /// Which applications are excluded has changed, or which of them that concerns. Those that are kept out stay
    /// registered, so that they need to do nothing when they are let in again; until then nothing of theirs goes to peers,
    /// and nothing of peers goes to them.
    func exclude() {
        for object in activityObjects.values { object.registrationChanged() }
        for object in activityObjects.values where object.isExcluded {
            perform(origin.activityInvalidated(object.id))
        }
        for runner in runners.values where runner.isExcluded { runner.exclude() }
    }
}

extension ContinuationRunner {
    /// Whether the user keeps out what continues the activity.
    var isExcluded: Bool {
        let registry = owner.registry
        let connection = registered?.name.text
        return applicationID.map { registry.isExcluded($0) } ?? false
            || connection.flatMap { registry.registration(of: $0) }.map { registry.isExcluded($0) } ?? false
    }

    /// The user has excluded what continues the activity. What has not been handed over fails; the application no longer
    /// holds what has been, and its streams end.
    func exclude() {
        guard let application = applicationID else { return }
        perform(machine.excluded(application))
        owner.perform(owner.held.released(id))
    }

    /// Throws if the user keeps `application` out, which is about to be given the page or the document, or has switched off
    /// the adapter that it belongs to.
    func checkExcluded(_ application: ApplicationID) throws(HandoffFailure) {
        guard !owner.registry.isExcluded(application) else { throw .excluded(application) }
        guard !owner.registry.isSwitchedOff(application) else { throw .switchedOff(application) }
    }
}
