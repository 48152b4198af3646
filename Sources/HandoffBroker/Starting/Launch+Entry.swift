// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffStarting
internal import Platform

extension Launch {
    /// The program of `line`, which opens `opened`; nil for nothing. This blocks as long as the file system does.
    /// - Throws: if it is missing, or cannot open that.
    init(
        _ application: ApplicationID, _ line: ExecLine, of entry: LaunchEntry,
        opening opened: ExecLine.Opened?,
        activationToken: String
    ) throws(HandoffFailure) {
        let arguments = try line.arguments(opening: opened, of: entry.about)
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
        self.init(
            application, program: program, arguments: arguments, folder: entry.folder,
            activationToken: activationToken)
    }
}
