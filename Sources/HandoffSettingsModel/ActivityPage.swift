// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStatus
internal import Platform

/// What the page shows that tells what other devices have fetched, and which have listed what is open here.
package struct ActivityPage: Equatable, Sendable {
    /// The occasions, the latest first.
    package var recent: [FetchRow] = []
    /// What each device has fetched in all, the latest first.
    package var devices: [FetchesRow] = []
    /// Which devices have listed what is open here, the latest first.
    package var listings: [ListingRow] = []
    /// Whether there is nothing of all that.
    package var isEmpty: Bool { recent.isEmpty && devices.isEmpty && listings.isEmpty }

    /// What `report` has of it.
    init(_ report: StatusReport?, at now: Int64, _ name: ApplicationNames) {
        guard let broker = report?.broker.content else { return }
        recent = Self.occasions(broker.fetches).enumerated().map { FetchRow($1, number: $0, at: now, name) }
        devices = broker.fetchesByDevice.map { FetchesRow($0, at: now) }
        listings = broker.listings.map { ListingRow($0, at: now) }
    }

    /// How far apart two fetches of one continuation may be, in microseconds.
    private static let occasion: Int64 = 60_000_000

    /// The same fetches, the latest first, those together that belong to one continuation: what comes with an activity is fetched
    /// after it.
    private static func occasions(_ fetches: [RecentFetch]) -> [[RecentFetch]] {
        var occasions: [[RecentFetch]] = []
        for fetch in fetches {
            if let last = occasions.last?.last, last.isPart, last.isOfSame(as: fetch),
                last.time - fetch.time < occasion
            {
                occasions[occasions.count - 1].append(fetch)
            } else {
                occasions.append([fetch])
            }
        }
        return occasions
    }
}

/// One occasion on which another device fetched something.
package struct FetchRow: Equatable, Sendable, Identifiable {
    package let id: String
    /// What was fetched.
    package let title: String
    /// The device that did.
    package let device: String
    /// What kind of thing it was, of which application, and when.
    package let detail: String
    /// The applications whose picture stands for it; none if it is what was in the clipboard.
    package let pictures: [String]

    /// The row of what was fetched together, the latest first.
    init(_ fetches: [RecentFetch], number: Int, at now: Int64, _ name: ApplicationNames) {
        let fetch = fetches[0]
        // Two may be of one microsecond.
        id = "\(number)"
        device =
            ChosenText(
                name: fetch.deviceName.isEmpty
                    ? String(fetch.deviceID.prefix(ShortIDs.minimum)) : fetch.deviceName
            ).shown
        if let clipboard = fetch.clipboard {
            title = tr("Clipboard: {what}", ["what": clipboard.text])
            detail = Ages.ago(fetch.time, at: now)
            pictures = []
            return
        }
        title = ChosenText(title: fetch.title.isEmpty ? fetch.applicationID : fetch.title).shown
        let kinds = [("document", tr("the document")), ("stream", tr("a stream"))]
            .filter { kind in fetches.contains { $0.kind == kind.0 } }.map { $0.1 }
        detail = ([name.name(of: fetch.applicationID)] + kinds + [Ages.ago(fetch.time, at: now)])
            .filter { !$0.isEmpty }.joined(separator: " · ")
        pictures = [fetch.applicationID]
    }
}

extension RecentFetch {
    /// Whether something else was fetched before that it comes with.
    fileprivate var isPart: Bool { kind == "document" || kind == "stream" }

    /// Whether both are of the same activity, as far as is shown of it, and by the same device.
    fileprivate func isOfSame(as other: RecentFetch) -> Bool {
        (deviceID, applicationID, title) == (other.deviceID, other.applicationID, other.title)
    }
}

/// What one device was told to be open here.
package struct ListingRow: Equatable, Sendable, Identifiable {
    /// 64 hexadecimal digits.
    package let id: String
    /// What the device calls itself.
    package let name: String
    /// When it was told last, and what was open then.
    package let detail: String

    /// More than that nobody reads in a line.
    private static let maximumTitles = 5

    init(_ listing: DeviceListing, at now: Int64) {
        id = listing.deviceID
        name = ChosenText.device(name: listing.deviceName, id: listing.deviceID).shown
        let titles = listing.titles.prefix(Self.maximumTitles).map { ChosenText(title: $0).quoted }
        let more = listing.titles.count > titles.count ? ["…"] : []
        let what = titles.isEmpty ? tr("Nothing was open") : (titles + more).joined(separator: ", ")
        detail = [what, Ages.ago(listing.time, at: now)].filter { !$0.isEmpty }.joined(separator: " · ")
    }
}

/// What one device has fetched in all.
package struct FetchesRow: Equatable, Sendable, Identifiable {
    /// 64 hexadecimal digits.
    package let id: String
    /// What the device calls itself.
    package let name: String
    /// How much of what it has fetched.
    package let counts: String
    /// When it did so last.
    package let last: String

    init(_ fetches: DeviceFetches, at now: Int64) {
        id = fetches.deviceID
        name =
            ChosenText(
                name: fetches.deviceName.isEmpty
                    ? String(fetches.deviceID.prefix(ShortIDs.minimum)) : fetches.deviceName
            ).shown
        let (activities, streams, documents, clipboards) = (
            Int(clamping: fetches.fetches), Int(clamping: fetches.streams), Int(clamping: fetches.documents),
            Int(clamping: fetches.clipboards)
        )
        counts = [
            activities == 0 && clipboards != 0
                ? "" : trn("{count} activity", "{count} activities", count: activities),
            streams == 0 ? "" : trn("{count} stream", "{count} streams", count: streams),
            documents == 0 ? "" : trn("{count} document", "{count} documents", count: documents),
            clipboards == 0
                ? "" : trn("the clipboard {count} time", "the clipboard {count} times", count: clipboards),
        ].filter { !$0.isEmpty }.joined(separator: ", ")
        last = Ages.ago(fetches.time, at: now)
    }
}
