// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import HandoffCore
internal import Platform

/// What `handoff publish --document` makes known: a file of this machine.
struct PublishedDocument: Sendable {
    /// The name that the user gave, without the folders before it; what is no text in it has become replacement characters.
    let name: String
    /// The file's URL, in which there is no link.
    let url: String

    /// The file at `path`, whose name need not be text.
    /// - Throws: if there is none that can be read.
    init(_ path: [UInt8]) throws(CommandFailure) {
        let shown = String(decoding: path, as: UTF8.self)
        guard !path.isEmpty else { throw .usage(tr("--document: the name of the file is empty.")) }
        guard let real = realpath(path.map { CChar(bitPattern: $0) } + [0], nil) else {
            throw Self.failure(shown)
        }
        defer { free(real) }
        var status = stat()
        guard stat(real, &status) == 0 else { throw Self.failure(shown) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR:
            throw CommandFailure(
                tr(
                    "“{file}” is a folder, not a document. Send it with tar: tar c FOLDER | handoff publish --stream -",
                    ["file": shown.shown])
            )
        default:
            throw CommandFailure(
                tr(
                    "“{file}” is not a regular file, so it is not a document. Send what can be read from it "
                        + "with --stream.",
                    ["file": shown.shown])
            )
        }
        guard access(real, R_OK) == 0 else { throw Self.failure(shown) }
        guard let url = g_filename_to_uri(real, nil, nil) else {
            throw CommandFailure(
                tr("“{file}” has a name that cannot be written as a URL. Rename it.", ["file": shown.shown]))
        }
        defer { g_free(url) }
        self.url = String(cString: url)
        let name = path.split(separator: UInt8(ascii: "/")).last ?? path[...]
        self.name = String(decoding: name, as: UTF8.self)
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(
            tr("“{file}” cannot be read: {reason}.", ["file": path.shown, "reason": SystemError.last]))
    }
}
