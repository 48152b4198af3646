// SPDX-License-Identifier: LGPL-2.1-or-later

/// The registration of an adapter that is to end, since its application turned out to know Handoff itself.
package struct ReplacedAdapter: Equatable, Sendable {
    /// Whose registration it is.
    package let connection: String
    /// Which application it stands for.
    package let applicationID: ApplicationID
    /// Why it ends, and what to do, for people to read.
    package let reason: String
}

extension Registry {
    /// The adapters whose applications have registered themselves since, or say in a desktop entry that they know Handoff.
    package var replacedAdapters: [ReplacedAdapter] {
        let adapters = all.filter(\.isAdapter)
        // Most of the time there is none.
        guard !adapters.isEmpty else { return [] }
        let native = Set(all.lazy.filter { !$0.isAdapter }.map(\.applicationID))
        return adapters.compactMap { adapter in
            let id = adapter.applicationID
            return knowledge(of: id, isRegistered: native.contains(id)).map {
                ReplacedAdapter(
                    connection: adapter.connection, applicationID: id, reason: "\($0) \(Self.stepBack)")
            }
        }
    }

    /// Throws `notSupported` if no adapter may stand for `application`. What `connection` has registered itself does not
    /// count, since it is replaced.
    func checkAdapter(of application: ApplicationID, from connection: String) throws(HandoffFailure) {
        let isRegistered = all.contains {
            !$0.isAdapter && $0.applicationID == application && $0.connection != connection
        }
        guard let reason = knowledge(of: application, isRegistered: isRegistered) else { return }
        throw HandoffFailure(.notSupported, "No adapter is needed. \(reason) \(Self.stepBack)")
    }

    /// How it is known that `application` knows Handoff itself; nil if it is not.
    private func knowledge(of application: ApplicationID, isRegistered: Bool) -> String? {
        if isRegistered { return "\(application) has registered itself." }
        guard let entry = installed[application], entry.adapter == nil else { return nil }
        return
            "The desktop entry of \(application) says that it takes part in Handoff itself, since it has"
            + " neither Adapter nor X-Handoff-Adapter."
    }

    private static let stepBack =
        "The adapter has to step back, and to register when it is needed the next time."

    /// Whether the desktop entry of `application` belongs to an adapter that the user has switched off: then it is as if it
    /// was not installed.
    package func isSwitchedOff(_ application: ApplicationID) -> Bool {
        guard !disabledAdapters.isEmpty else { return false }
        return installed[application]?.adapter.map { disabledAdapters.contains($0) } ?? false
    }

    /// Whether `application` opens the document of `offer`, if that has one: it does not if it would be started to have others
    /// open it, of which none is installed.
    func canOpenDocument(of offer: Offer, _ application: ApplicationID) -> Bool {
        guard offer.documentType != nil, let entry = installed[application], !entry.canOpen else {
            return true
        }
        return all.contains { $0.applicationID == application }
    }

    /// The desktop entries of the applications of which one is needed here so that an adapter can continue `offer`; empty if that
    /// is not what it lacks.
    func needed(for offer: Offer) -> [String] {
        installed.values.filter {
            $0.adapter != nil && $0.continues(offer) && start($0.applicationID) != nil
                && !isExcluded($0.applicationID) && !canOpenDocument(of: offer, $0.applicationID)
        }.min { $0.applicationID.description < $1.applicationID.description }?.opensWith ?? []
    }

    /// How `application`, which does not run, is started to continue something; nil if it cannot be.
    func start(_ application: ApplicationID) -> InstalledApplication.Start? {
        isSwitchedOff(application) ? nil : installed[application]?.start
    }
}
