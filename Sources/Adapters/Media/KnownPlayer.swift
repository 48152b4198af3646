// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore

/// An application that is known to play what it is given, and how it is started.
package struct KnownPlayer: Sendable {
    /// Its desktop entry.
    package let application: String
    /// Its program.
    package let program: String
    /// What it is given in place of a position that it can begin at.
    private let beginning: (@Sendable (_ file: String, _ seconds: String) -> [String])?
    /// What it is given to be paused at first; nil if it cannot be.
    private let paused: String?
    /// Whether it says what it plays.
    package let tellsAddress: Bool

    /// Whether it is told what to play only once it is there: given a file it adds that to its collection instead.
    package let isToldLater: Bool

    private init(
        _ application: String, _ program: String, paused: String? = nil, tellsAddress: Bool = true,
        isToldLater: Bool = false,
        beginning: (@Sendable (_ file: String, _ seconds: String) -> [String])? = nil
    ) {
        (self.application, self.program, self.paused) = (application, program, paused)
        (self.tellsAddress, self.isToldLater, self.beginning) = (tellsAddress, isToldLater, beginning)
    }

    /// Those that are known, in the order in which they are tried for what none else is there for.
    package static let all = [
        // The braces keep the position to this file alone.
        KnownPlayer("mpv", "mpv", paused: "--pause") { file, seconds in
            ["--player-operation-mode=pseudo-gui", "--{", "--start=\(seconds)", file, "--}"]
        },
        // What begins with a colon is for the file in front of it alone.
        KnownPlayer("vlc", "vlc", paused: "--start-paused") { file, seconds in
            [file, ":start-time=\(seconds)"]
        },
        KnownPlayer("io.github.celluloid_player.Celluloid", "celluloid"),
        KnownPlayer("org.gnome.Totem", "totem", tellsAddress: false),
        KnownPlayer("org.gnome.Rhythmbox3", "rhythmbox", isToldLater: true),
    ]

    /// The one that is `application`; nil if that is not known.
    package static func find(_ application: ApplicationID) -> KnownPlayer? {
        all.first { $0.application == application.description }
    }

    /// Whether it begins where it is told, so that nobody has to wait for it to say where it is.
    package var beginsAtPosition: Bool { beginning != nil }

    /// What it is started with, its own name first, for playing `media`.
    package func arguments(for media: HandedMedia) -> [String] {
        if isToldLater { return [program] }
        let file = media.address.argument
        let pause = media.isPlaying ? [] : [paused].compactMap { $0 }
        guard let beginning else { return [program] + pause + [file] }
        return [program] + pause + beginning(file, Self.seconds(media.position ?? 0))
    }

    /// `time` in seconds, as all programs read it, whatever the language.
    package static func seconds(_ time: Int64) -> String {
        let thousandths = String(time / 1000 % 1000)
        return "\(time / 1_000_000)." + String(repeating: "0", count: 3 - thousandths.count) + thousandths
    }
}
