// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import MainLoop
internal import Platform

/// What GNOME Shell finds of Handoff.
@MainLoop
package final class SearchProvider: SearchProvider2Server {
    private let index: OfferIndex
    private let actions: any AgentActions

    /// The most results that are described at once; the Shell shows fewer.
    private static let maximumMetas = 64

    /// A provider that finds what is in `index`.
    package init(_ index: OfferIndex, _ actions: any AgentActions) {
        self.index = index
        self.actions = actions
    }

    package func getInitialResultSet(terms: [String], _ call: MethodCall) async throws -> [String] {
        await index.matches(for: terms).map(\.offer.key)
    }

    package func getSubsearchResultSet(
        previousResults: [String], terms: [String], _ call: MethodCall
    ) async throws -> [String] {
        await index.matches(for: terms).map(\.offer.key)
    }

    package func getResultMetas(
        identifiers: [String], _ call: MethodCall
    ) async throws -> [[String: Value]] {
        var metas: [[String: Value]] = []
        for id in identifiers.prefix(Self.maximumMetas) {
            metas.append(Self.meta(id, await index.offer(id)))
        }
        return metas
    }

    private static func meta(_ id: String, _ offer: ListedOffer?) -> [String: Value] {
        guard let offer else {
            // The Shell shows none of the results if one is missing.
            return ["id": .string(id), "name": .string(tr("This is no longer offered."))]
        }
        return [
            "id": .string(id), "name": .string(tr("Continue {title}", ["title": offer.label])),
            "description": .string(tr("from {device}", ["device": offer.whereabouts])),
            "gicon": .string(offer.icon),
        ]
    }

    package func activateResult(
        identifier: String, terms: [String], timestamp: UInt32, _ call: MethodCall
    ) async throws {
        guard let offer = await index.offer(identifier) else { return }
        let token = Self.startupID(timestamp)
        call.afterReply { [actions] in
            actions.continueOffer(at: offer.path, in: nil, token: token)
        }
    }

    package func launchSearch(terms: [String], timestamp: UInt32, _ call: MethodCall) throws {
        call.afterReply { [actions] in actions.openWindow(token: Self.startupID(timestamp)) }
    }

    /// The Shell gives no token, but says when the user has chosen, which on X11 is enough to bring a window to the front
    /// (Startup Notification Specification, “_TIME”).
    private static func startupID(_ timestamp: UInt32) -> String {
        timestamp == 0 ? "" : "handoff_TIME\(timestamp)"
    }
}
