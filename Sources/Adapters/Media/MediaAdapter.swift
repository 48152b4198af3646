// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport
internal import HandoffInterfaces

/// The adapter `media`: what plays in players that do not know Handoff (MPRIS) is continued on another device.
package enum MediaAdapter {
    /// The adapter as a program.
    package static let program = AdapterProgram("media") { arguments in
        AdapterService.run(
            "media", busName: HandoffNames.mediaAdapter,
            summary: "Continue what plays in media players on other devices.",
            arguments: arguments
        ) { service, _ in
            try MediaSession(service)
        } begin: { session in
            try await session.begin()
        }
    }

    /// The team of the players.
    static let team = HandoffNames.team("Media")
    /// What plays.
    static let type = "org.example.Handoff.PlayingMedia"
}
