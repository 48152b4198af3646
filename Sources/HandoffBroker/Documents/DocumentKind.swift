// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import HandoffCore
internal import Platform

/// What kind of file a document is, and whether it may be opened without the user having looked at it.
///
/// A name and a type from a peer prove nothing. So what the file holds decides as well: a program is not opened whatever
/// it is called, and neither is what pretends to be something else than it is.
struct DocumentKind {
    /// The MIME type that its name stands for.
    let byName: String
    /// The MIME type of what it holds.
    let byContent: String
    /// Why it is a program whatever its types are, for people; nil if it is none by its first bytes, the ending of its
    /// name and its permissions.
    let mark: String?
    /// Whether it is a list that leads players to other files: one of a peer's could name any file of this machine.
    let isList: Bool

    /// How much of a file is looked at.
    private static let head = 4096
    private static let unknown: Set = ["application/octet-stream", "application/x-zerosize", ""]
    /// What documents of many kinds are wrapped in.
    private static let containers: Set = [
        "application/zip", "application/gzip", "application/x-ole-storage", "application/xml",
        "application/ogg",
    ]

    /// A file called `name` that begins with `bytes`, and that its permissions let be executed or not.
    init(name: String, bytes: [UInt8], isExecutable: Bool = false) {
        isList = MediaFormat.isList(name: name, bytes)
        byName = Self.type(ofName: name)
        byContent = Self.guess { g_content_type_guess(nil, bytes, gsize(bytes.count), nil) }
        mark =
            ProgramMark.inContent(bytes) ?? ProgramMark.inName(name).map {
                "\($0), by the ending of its name"
            }
            ?? (isExecutable ? "marked as executable" : nil)
    }

    /// The MIME type that `name` stands for. This blocks as long as the file system does.
    static func type(ofName name: String) -> String { guess { g_content_type_guess(name, nil, 0, nil) } }

    /// For these types.
    init(byName: String, byContent: String) {
        (self.byName, self.byContent, mark, isList) = (byName, byContent, nil, false)
    }

    /// Looks at the file at `path`, which may block.
    /// - Throws: if it cannot be read, or is no regular file.
    init(of path: String) throws(HandoffFailure) {
        let head: FileHead
        do throws(FileHead.Failure) {
            head = try FileHead(of: path, count: Self.head, followsLinks: false)
        } catch {
            throw HandoffFailure(
                .accessDenied, "\(PeerText.message(path)) cannot be opened: \(error.reason).")
        }
        self.init(name: head.name, bytes: head.bytes, isExecutable: head.isExecutable)
    }

    /// What the document is to be opened as.
    /// - Throws: why nothing but the user may open it.
    func opened(_ types: ContentTypes) throws(HandoffFailure) -> String {
        if isList || [byName, byContent].contains(where: types.isList) {
            throw HandoffFailure(
                .noApplication,
                "The document is a list that has players open other files, and is not opened. Open it yourself if you trust"
                    + " it.")
        }
        if let reason = mark ?? [byName, byContent].first(where: types.isProgram) {
            throw HandoffFailure(
                .noApplication,
                "The document is a program or can contain one (\(PeerText.message(reason))), and is not opened. Open it"
                    + " yourself if you trust it.")
        }
        if Self.unknown.contains(byName) { return byContent }
        guard Self.unknown.contains(byContent) || agree(types) else {
            throw HandoffFailure(
                .noApplication,
                "By its name, the document is \(PeerText.message(byName)), but what it holds is"
                    + " \(PeerText.message(byContent)). It is not opened. Open it yourself if you trust it.")
        }
        return byName
    }

    /// Whether the two types can be those of one file.
    private func agree(_ types: ContentTypes) -> Bool {
        // A player would follow the lines of a text.
        if Self.family(byName) == "media", types.isText(byContent) { return false }
        let (name, content) = (types.kinds(of: byName), types.kinds(of: byContent))
        if name.contains(byContent) || content.contains(byName) { return true }
        if name.contains("text/plain"), content.contains("text/plain") { return true }
        if let family = Self.family(byName), family == Self.family(byContent) { return true }
        return byName.hasPrefix("application/") && Self.containers.contains(byContent)
    }

    /// What a type belongs to whose files are never programs; nil for those that say nothing about it.
    private static func family(_ type: String) -> String? {
        switch type.split(separator: "/").first {
        case "image": "image"
        case "audio", "video": "media"
        case "font": "font"
        default: nil
        }
    }

    private static func guess(_ make: () -> UnsafeMutablePointer<gchar>?) -> String {
        guard let type = make() else { return "" }
        defer { g_free(type) }
        return String(cString: type)
    }
}
