// SPDX-License-Identifier: LGPL-2.1-or-later
package import HandoffCore

/// A program that is about to be started, with all that has to be known of it.
package struct Launch: Sendable {
    /// The application that it is.
    package let application: ApplicationID
    /// Its absolute path.
    package let program: String
    /// What it is given, its own name first.
    package let arguments: [String]
    /// What is added to the session's environment.
    package let environment: [String: String]
    /// The folder that it is to start in; nil for the user's own.
    package let folder: String?

    /// How long a token may be, in bytes.
    private static let maximumToken = 1024

    /// The program at `program`, an absolute path. `activationToken` lets it raise its window; empty for none.
    package init(
        _ application: ApplicationID, program: String, arguments: [String], folder: String? = nil,
        activationToken: String
    ) {
        self.application = application
        self.program = program
        self.arguments = arguments
        self.folder = folder
        let token = Self.usable(activationToken)
        environment = token.map { ["XDG_ACTIVATION_TOKEN": $0, "DESKTOP_STARTUP_ID": $0] } ?? [:]
    }

    /// A token that can be a variable of the environment; nil if there is none. A window that stays behind is better than
    /// an application that does not start.
    package static func usable(_ token: String) -> String? {
        guard !token.isEmpty, token.utf8.count <= maximumToken,
            !token.unicodeScalars.contains(where: PeerText.isControl)
        else { return nil }
        return token
    }
}
