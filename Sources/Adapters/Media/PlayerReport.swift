// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
internal import HandoffCore

/// What a player says of itself (MPRIS, `org.mpris.MediaPlayer2.Player`), as far as it can be believed.
package struct PlayerReport: Equatable, Sendable {
    /// Whether it plays.
    package enum Status: Sendable {
        case playing, paused, stopped
    }

    /// Whether it plays.
    package let status: Status
    /// What it plays; nil if it does not say, or if that may not be offered.
    package private(set) var address: MediaAddress?
    /// The object by which it knows what it plays; nil if it does not say.
    package let track: ObjectPath?
    /// What that is called; empty if the player does not say.
    package let title: String
    /// Who it is by; empty if the player does not say.
    package let artist: String
    /// How long it takes, in microseconds; nil if that is not known, as with a station on the radio.
    package let length: Int64?

    /// The longest time that anything takes: more than a thousand hours are no film.
    private static let maximumTime: Int64 = 3_600_000_000 * 1000
    /// Whether only this player can play what it plays: something on the web that has an end, and where it cannot seek, is
    /// a page of the player's own service, and no stream.
    package let isBound: Bool

    /// How many artists are named at most.
    private static let maximumArtists = 3

    /// What `properties`, which the player has sent, say.
    /// - Parameter seesFiles: whether the player can read all files of the user. From within a sandbox it could name any that
    ///   it cannot.
    package init(_ properties: [String: Value], seesFiles: Bool = true) {
        let metadata = properties["Metadata"]?.properties ?? [:]
        var address = metadata["xesam:url"]?.string.flatMap { MediaAddress($0) }
        if case .file? = address, !seesFiles { address = nil }
        status =
            switch properties.text("PlaybackStatus") {
            case "Playing": .playing
            case "Paused": .paused
            default: .stopped
            }
        self.address = address
        track = Self.track(metadata["mpris:trackid"])
        title = PeerText.title(metadata.text("xesam:title"))
        artist = Self.artist(metadata["xesam:artist"])
        length = Self.time(metadata["mpris:length"]).flatMap { $0 > 0 ? $0 : nil }
        if case .stream? = address {
            isBound = length != nil && properties["CanSeek"] == .boolean(false)
        } else {
            isBound = false
        }
    }

    /// The same of a player that does not say what it plays.
    func without() -> PlayerReport {
        var report = self
        report.address = nil
        return report
    }

    /// Some say it as a text.
    private static func track(_ value: Value?) -> ObjectPath? {
        let none = "/org/mpris/MediaPlayer2/TrackList/NoTrack"
        guard let value else { return nil }
        let path: ObjectPath? =
            if case .objectPath(let path) = value { path } else {
                value.string.flatMap { try? ObjectPath($0) }
            }
        guard let path, path.text != none, path.text.utf8.count <= 1024 else { return nil }
        return path
    }

    /// A list, but some say a text.
    private static func artist(_ value: Value?) -> String {
        let names = value?.strings ?? value?.string.map { [$0] } ?? []
        return PeerText.title(names.prefix(maximumArtists).map { PeerText.title($0) }.joined(separator: ", "))
    }

    /// A time in microseconds, of whichever type the player sends; nil if it is none that anything could take.
    package static func time(_ value: Value?) -> Int64? {
        let time: Int64? =
            switch value {
            case .int64(let time)?: time
            case .uint64(let time)?: Int64(exactly: time)
            case .int32(let time)?: Int64(time)
            case .uint32(let time)?: Int64(time)
            case .double(let time)?: time.isFinite ? Int64(exactly: time.rounded()) : nil
            case .variant(let inner)?: Self.time(inner)
            default: nil
            }
        guard let time, 0...maximumTime ~= time else { return nil }
        return time
    }

    /// `position` if it is within what the player plays; nil if it lies.
    package func checked(position: Int64?) -> Int64? {
        guard let position, position <= length ?? Self.maximumTime else { return nil }
        return position
    }

    /// What people read.
    package var shownTitle: String {
        let title = title.isEmpty ? PeerText.title(address?.name ?? "") : title
        return artist.isEmpty ? title : PeerText.title("\(title) – \(artist)")
    }
}
