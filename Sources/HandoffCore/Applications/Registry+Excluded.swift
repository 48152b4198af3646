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

    /// What would continue `offer` if the user did not keep it out, and who would if it was of the same team.
    package func keptOut(from offer: Offer, with choices: HandlerChoices = HandlerChoices()) -> KeptOut {
        let stranger = stranger(to: offer)
        let needed = needed(for: offer)
        guard !excluded.ids.isEmpty else { return KeptOut(ofOtherTeam: stranger, needed: needed) }
        let able = Set(handlers(for: offer, with: choices).map(\.id))
        let all = handlers(for: offer, with: choices, excludedToo: true).map(\.id)
        return KeptOut(
            applications: all.filter { !able.contains($0) },
            hasBrowser: choices.browser.map(isExcluded) ?? false, ofOtherTeam: stranger, needed: needed)
    }

    /// Who declares the type of `offer` and is of another team, preferably one that runs. The type of web pages belongs to
    /// no team.
    private func stranger(to offer: Offer) -> KeptOut.Stranger? {
        guard offer.type != .browsingWeb else { return nil }
        let other = all.last {
            $0.receives && $0.team != offer.team && $0.declares(offer.type) && !isExcluded($0)
        }
        if let other {
            return KeptOut.Stranger(application: other.applicationID, team: other.team)
        }
        let others = installed.values.filter {
            $0.ownTeam != offer.team && $0.adapter == nil && $0.declaration.types.contains(offer.type)
                && !isExcluded($0.applicationID)
        }
        return others.min { $0.applicationID < $1.applicationID }.map {
            KeptOut.Stranger(application: $0.applicationID, team: $0.ownTeam)
        }
    }
}
