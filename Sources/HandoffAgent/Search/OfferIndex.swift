// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
package import HandoffStatus
package import MainLoop
internal import Platform

/// The offers that can be found now.
@MainLoop
package final class OfferIndex {
    private let faces: any ApplicationFaces
    private let known = Awaited<Bool>()
    private var latest: StatusReport?
    /// What can be found, made when somebody asks: reports come often, and questions seldom.
    private var made: Content?

    private struct Content {
        var offers: [String: ListedOffer] = [:]
        var search = OfferSearch<String>([], keywords: [], fold: { $0 })
    }

    /// How long a question of an agent that has just been started waits for what there is to be known.
    private static let patience = Duration.seconds(1)

    /// There are no offers until the first report.
    package init(_ faces: any ApplicationFaces) { self.faces = faces }

    /// Takes the offers in `report`.
    package func update(_ report: StatusReport) {
        (latest, made) = (report, nil)
        known.come(true)
    }

    private var content: Content {
        if let made { return made }
        guard let latest else { return Content() }
        let all = ListedOffer.all(in: latest, faces)
        let content = Content(
            offers: Dictionary(all.map { ($0.key, $0) }) { first, _ in first },
            search: OfferSearch(
                all.map {
                    .init($0.key, title: $0.title, device: $0.device, application: $0.application)
                },
                // Whoever searches in English finds them too, whatever the language of the desktop.
                keywords: ["continue", "handoff", tr("continue"), tr("handoff")],
                fold: FoldedText.folded))
        made = content
        return content
    }

    /// The offers that match all of `terms`, the best first.
    package func matches(for terms: [String]) async -> [(offer: ListedOffer, relevance: Double)] {
        _ = await known.value(within: Self.patience)
        let content = content
        return content.search.matches(for: terms).compactMap { match in
            content.offers[match.id].map { ($0, match.relevance) }
        }
    }

    /// The offer with this key, if it is still there.
    package func offer(_ key: String) async -> ListedOffer? {
        _ = await known.value(within: Self.patience)
        return content.offers[key]
    }
}
