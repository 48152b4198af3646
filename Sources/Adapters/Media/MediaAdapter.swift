// SPDX-License-Identifier: LGPL-2.1-or-later
package import AdapterSupport
internal import DBus
internal import HandoffCore

/// The adapter `media`: what plays in players that do not know Handoff (MPRIS) is continued on another device.
package enum MediaAdapter {
    /// The adapter as a program.
    package static let program = AdapterProgram("media") { arguments in
        AdapterService.run(
            "media", busName: busName,
            summary: "Continue what plays in media players on other devices.",
            arguments: arguments
        ) { service, _ in
            try MediaSession(service)
        } begin: { session in
            try await session.begin()
        }
    }

    /// Its name on the bus, and the application that what others play is continued in.
    static let busName: BusName = "org.example.Handoff.Media"
    /// What plays.
    static let type = "org.example.Handoff.PlayingMedia"
}
