// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore
internal import Platform

/// What another device's player plays, checked: everything in it was chosen by whoever sent it.
package struct HandedMedia: Equatable, Sendable {
    /// Keys of its `UserInfo`.
    package enum Key {
        /// The application that plays it, by its id (`s`).
        package static let application = "ApplicationId"
        /// Where it is, in microseconds (`x`); not there if it has no place, as with a station on the radio.
        package static let position = "Position"
        /// Whether it plays, and is not paused (`b`).
        package static let isPlaying = "Playing"
        /// Whether no other application can play it (`b`); not there if others can.
        package static let isBound = "Bound"
        /// Who it is by (`s`).
        package static let artist = "Artist"
    }

    /// What is to be played.
    package let address: MediaAddress
    /// Which application has played it; nil if that is not said.
    package let application: ApplicationID?
    /// Where it is continued, in microseconds; nil if it has no place.
    package let position: Int64?
    /// Whether it is to play, and not to be paused.
    package let isPlaying: Bool
    /// Whether ``application`` alone can play it.
    package let isBound: Bool

    /// What `properties`, those of an activity, and `userInfo` say. A document is a file that the broker has delivered:
    /// nothing else of a peer's names a file.
    /// - Throws: if they name nothing that could be played.
    package init(_ properties: [String: Value], _ userInfo: [String: Value]) throws(HandoffFailure) {
        address = try Self.address(properties)
        application = userInfo[Key.application]?.string.flatMap { try? ApplicationID($0) }
        position = PlayerReport.time(userInfo[Key.position])
        isPlaying = userInfo[Key.isPlaying] != .boolean(false)
        isBound = application != nil && userInfo[Key.isBound] == .boolean(true)
    }

    private static func address(_ properties: [String: Value]) throws(HandoffFailure) -> MediaAddress {
        if let document = properties["DocumentURL"]?.string, !document.isEmpty {
            if let address = MediaAddress(document), case .file = address { return address }
        } else if let address = properties["WebpageURL"]?.string.flatMap({ MediaAddress($0) }),
            case .stream = address
        {
            return address
        }
        throw HandoffFailure(
            .notSupported,
            tr(
                "What the other device plays is neither a file nor an http or https address, and is not played here."
            )
        )
    }

    /// The properties of an activity for what a player says, which is at `position`.
    package static func properties(
        of report: PlayerReport, _ application: ApplicationID, position: Int64?
    ) -> [String: Value] {
        var userInfo: [String: Value] = [
            Key.application: .string(application.description),
            Key.isPlaying: .boolean(report.status == .playing),
        ]
        if report.isBound { userInfo[Key.isBound] = .boolean(true) }
        if let position { userInfo[Key.position] = .int64(position) }
        if !report.artist.isEmpty { userInfo[Key.artist] = .string(report.artist) }
        var properties: [String: Value] = [
            "Title": .string(report.shownTitle), "UserInfo": .properties(userInfo),
        ]
        switch report.address {
        case .file(let url, _)?: properties["DocumentURL"] = .string(url)
        case .stream(let url)?: properties["WebpageURL"] = .string(url)
        case nil: break
        }
        return properties
    }
}
