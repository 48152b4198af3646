// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import MainLoop
internal import Platform

/// What KRunner finds of Handoff.
@MainLoop
package final class KRunnerRunner: RunnerServer {
    private let index: OfferIndex
    private let actions: any AgentActions
    private let token = OfferedToken()

    /// The longest query that is looked at, in characters.
    private static let longestQuery = 1024
    /// The action that hides an offer.
    private static let dismiss = "dismiss"
    /// What KRunner calls a match that is exactly what was asked for, and one that may be (`KRunner::QueryMatch`).
    private static let (exact, possible) = (Int32(100), Int32(30))

    /// A runner that finds what is in `index`.
    package init(_ index: OfferIndex, _ actions: any AgentActions) {
        self.index = index
        self.actions = actions
    }

    package func actions(_ call: MethodCall) throws -> [Structure<String, String, String>] {
        [Structure(Self.dismiss, tr("Dismiss"), "window-close")]
    }

    package func config(_ call: MethodCall) throws -> [String: Value] { ["MinLetterCount": .int32(2)] }

    package func match(
        query: String, _ call: MethodCall
    ) async throws -> [Structure<String, String, String, Int32, Double, [String: Value]>] {
        let terms = query.prefix(Self.longestQuery).split(whereSeparator: \.isWhitespace).map(String.init)
        return await index.matches(for: terms).map { offer, relevance in
            Structure(
                offer.key, tr("Continue {title}", ["title": offer.label]), offer.icon,
                relevance == 1 ? Self.exact : Self.possible, relevance,
                [
                    "subtext": .string(tr("from {device}", ["device": offer.whereabouts])),
                    "category": .string(tr("Handoff")), "actions": .strings([Self.dismiss]),
                ])
        }
    }

    package func run(matchId: String, actionId: String, _ call: MethodCall) async throws {
        let token = token.take(by: call.caller)
        guard let path = await index.offer(matchId)?.path else { return }
        switch actionId {
        case "":
            call.afterReply { [actions] in actions.continueOffer(at: path, in: nil, token: token) }
        case Self.dismiss: call.afterReply { [actions] in actions.dismissOffer(at: path) }
        default:
            throw DBusError.invalidArgs(
                "There is no action “\(actionId.prefix(64))”. Use one of those that Actions lists, or none.")
        }
    }

    package func setActivationToken(token: String, _ call: MethodCall) throws {
        self.token.keep(token, of: call.caller)
    }

    package func teardown(_ call: MethodCall) throws {}
}
