// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import Platform

/// A program that is about to be started, with all that has to be known of it.
struct Launch: Sendable {
    /// The application that it is.
    let application: ApplicationID
    /// Its absolute path.
    let program: String
    /// What it is given, its own name first.
    let arguments: [String]
    /// What is added to the session's environment.
    let environment: [String: String]
    /// The folder that it is to start in; nil for the user's own.
    let folder: String?

    /// How long a token may be, in bytes.
    private static let maximumToken = 1024

    /// The program of `line`, which opens `opened`; nil for nothing. This blocks as long as the file system does.
    /// - Throws: if it is missing, or cannot open that.
    init(
        _ application: ApplicationID, _ line: ExecLine, of entry: LaunchEntry,
        opening opened: ExecLine.Opened?,
        activationToken: String
    ) throws(HandoffFailure) {
        arguments = try line.arguments(opening: opened, of: entry.about)
        guard let program = ProgramFiles.find(line.program) else {
            throw HandoffFailure(
                .applicationFailed,
                "Its program \(PeerText.message(line.program)) is not installed. Install it again.")
        }
        if let folder = entry.folder, !ProgramFiles.isFolder(folder) {
            throw HandoffFailure(
                .applicationFailed,
                "The folder \(PeerText.message(folder)) that its desktop entry names (Path) is missing. Install it again."
            )
        }
        self.application = application
        self.program = program
        folder = entry.folder
        let token = Self.usable(activationToken)
        environment = token.map { ["XDG_ACTIVATION_TOKEN": $0, "DESKTOP_STARTUP_ID": $0] } ?? [:]
    }

    /// A token that can be a variable of the environment; nil if there is none. A window that stays behind is better than
    /// an application that does not start.
    static func usable(_ token: String) -> String? {
        guard !token.isEmpty, token.utf8.count <= maximumToken,
            !token.unicodeScalars.contains(where: PeerText.isControl)
        else { return nil }
        return token
    }
}
