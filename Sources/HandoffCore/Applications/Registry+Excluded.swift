// SPDX-License-Identifier: LGPL-2.1-or-later

extension Registry {
    /// Whether the user keeps `application` out: it has been excluded itself, or its desktop entry says that it is from the
    /// same package as one that has been.
    package func isExcluded(_ application: ApplicationID) -> Bool {
        guard !excluded.ids.isEmpty else { return false }
        return excluded.ids.contains(application) || isExcluded(installed[application]?.package)
    }

    /// Whether the user keeps out who has registered this. What runs in a sandbox is known by its package too, whichever of
    /// the ids of that package it has registered.
    package func isExcluded(_ registration: Registration) -> Bool {
        isExcluded(registration.applicationID) || isExcluded(registration.package)
    }

    private func isExcluded(_ package: SandboxPackage?) -> Bool {
        guard let package, !excluded.ids.isEmpty else { return false }
        return excludedPackages.contains(package) || excluded.names(package)
    }

    /// What would continue `offer` if the user did not keep it out.
    package func keptOut(from offer: Offer, with choices: HandlerChoices = HandlerChoices()) -> KeptOut {
        guard !excluded.ids.isEmpty else { return KeptOut() }
        let able = Set(handlers(for: offer, with: choices).map(\.id))
        let all = handlers(for: offer, with: choices, excludedToo: true).map(\.id)
        return KeptOut(
            applications: all.filter { !able.contains($0) },
            hasBrowser: choices.browser.map(isExcluded) ?? false)
    }
}
