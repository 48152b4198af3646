// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

extension Broker {
    /// What decides beside the applications themselves which of them is best for `offer`.
    func choices(for offer: Offer) -> HandlerChoices {
        var choices = HandlerChoices()
        choices.chosen = preferences.applications[offer.type]
        if offer.webpageHost != nil || offer.type == .browsingWeb { choices.browser = defaults.browser }
        if offer.type == .browsingWeb, let host = offer.webpageHost.flatMap({ WebHost($0) }) {
            choices.claimants = sites.claimants(of: host)
        }
        choices.documentApplication = offer.documentType.flatMap {
            defaults.application(forDocumentsOf: $0)
        }
        return choices
    }
}
