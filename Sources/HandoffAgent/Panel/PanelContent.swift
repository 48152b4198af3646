// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
package import HandoffStatus
package import MainLoop
internal import Platform

/// What there is to show in the panel.
package struct PanelContent: Equatable, Sendable {
    /// A peer that is connected, or a telephone.
    package struct Peer: Hashable, Sendable {
        /// 64 hexadecimal digits, or what stands for a telephone (``KnownPhone/target``).
        package let id: String
        /// What it is called, fit to be shown.
        package let name: String

        /// The peer `id`.
        package init(id: String, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// What can be continued here, the latest first.
    package var offers: [ListedOffer]
    /// To whom what is current here can be sent; nobody if nothing is current that the user
    /// offers to others.
    package var recipients: [Peer]
    /// The peers of which is known what is open there.
    package var listable: [Peer]
    /// Whose clipboard can be pasted here; nobody's if the user does not want that.
    package var sources: [Peer]
    /// Whether the clipboard of the desktop here, into which it would be pasted, can be reached.
    package var reachesClipboard: Bool
    /// The user's switch; nil if there is no broker.
    package var isEnabled: Bool?

    /// The most of these peers that are shown.
    package static let maximumListable = 8

    /// The most offers that are shown; the window shows all.
    package static let maximumOffers = 16

    /// What is shown while there is nothing, or while nothing may be shown.
    package init(
        offers: [ListedOffer] = [], recipients: [Peer] = [], listable: [Peer] = [], sources: [Peer] = [],
        reachesClipboard: Bool = true, isEnabled: Bool? = nil
    ) {
        self.offers = offers
        self.recipients = recipients
        self.listable = listable
        self.sources = sources
        self.reachesClipboard = reachesClipboard
        self.isEnabled = isEnabled
    }

    /// What `report` says.
    @MainLoop
    package init(_ report: StatusReport, _ faces: any ApplicationFaces) {
        let broker = report.broker.content
        offers = Array(ListedOffer.all(in: report, faces).prefix(Self.maximumOffers))
        isEnabled = broker?.isEnabled
        let isSending = broker?.isEnabled == true && broker?.sendable?.isExcluded == false
        func peers(_ devices: [KnownDevice]) -> [Peer] {
            devices.map { Peer(id: $0.id, name: $0.label.shown) }
        }
        let connected = peers(report.peers.filter(\.isConnected))
        let phones = broker?.phones.map { Peer(id: $0.target, name: $0.label.shown) } ?? []
        recipients = isSending ? connected + phones : []
        sources = broker?.isPasting == true ? connected : []
        reachesClipboard = broker?.clipboardDesktop.isEmpty == false
        listable =
            broker?.isEnabled == true
            ? peers(Array(report.peers.filter(\.canList).prefix(Self.maximumListable))) : []
    }

    // MARK: The item

    /// Whether there is anything to be seen.
    package var isActive: Bool { !offers.isEmpty }

    /// The icon of the item.
    package var icon: String { offers.first?.icon ?? ListedOffer.ownIcon }

    /// What the item is about.
    package var title: String {
        guard let offer = offers.first else { return tr("Handoff") }
        return Self.withoutMarkup(tr("Handoff: {device}", ["device": offer.device]))
    }

    /// What is said beside the pointer.
    package var toolTip: String {
        offers.map { Self.withoutMarkup(Self.line(for: $0)) }.joined(separator: "\n")
    }

    /// An offer in one line.
    package static func line(for offer: ListedOffer) -> String {
        tr("{title} — {device}", ["title": offer.label, "device": offer.whereabouts])
    }

    /// `text` with signs in place of those that some panels take for markup, and others don't: whatever a panel does, it
    /// shows this as it is.
    package static func withoutMarkup(_ text: String) -> String {
        let signs: [Character: Character] = ["<": "‹", ">": "›", "&": "＆"]
        return String(text.map { signs[$0] ?? $0 })
    }
}
