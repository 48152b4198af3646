// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// Turns URLs of files in the origin's shared folders into those of the same items here.
struct SharedURLs {
    /// The keys of what `Fetch` returns that are about this.
    enum Key {
        static let folders = "SharedFolders"
        static let size = "DocumentSize"
        static let modified = "DocumentModified"
    }

    /// The folders as the origin has them. They come from a peer.
    let origin: SharedFolders
    /// The folders here.
    let here: SharedFolders

    /// Whether `fetched` names shared folders, so that those of this machine have to be known.
    static func areNamed(in fetched: [String: Value]) -> Bool {
        guard case .dictionary(let named)? = fetched[Key.folders] else { return false }
        return !named.entries.isEmpty
    }

    /// The folders that the origin names in `fetched`, and those that are `here`.
    /// - Throws: `InvalidArgs` if what the origin says is of another type, `LimitsExceeded` if it names too many folders.
    init(_ fetched: [String: Value], here: SharedFolders) throws(HandoffFailure) {
        self.here = here
        guard let value = fetched[Key.folders] else {
            origin = SharedFolders()
            return
        }
        guard case .dictionary(let named) = value, named.keySignature == "s", named.valueSignature == "s"
        else {
            throw ActivityState.wrongType(Key.folders, "a{ss}", value)
        }
        guard named.entries.count <= SharedFolders.maximumCount else {
            throw HandoffFailure(
                .limitsExceeded,
                "\(Key.folders) names \(named.entries.count) folders, more than the \(SharedFolders.maximumCount)"
                    + " allowed. Name only those that are needed.")
        }
        // What is not known here need not be understood either.
        origin = SharedFolders(
            chosen: named.entries.compactMap { entry in
                guard let name = entry.key.string, here[name] != nil, let url = entry.value.string else {
                    return nil
                }
                return Self.folder(name, url)
            })
    }

    private static func folder(_ name: String, _ url: String) -> SharedFolder? {
        guard let file = FileURL(url), file.suffix.isEmpty else {
            brokerLog.debug("A peer's shared folder is ignored: \(PeerText.message(url)) is not a file URL.")
            return nil
        }
        do {
            return try SharedFolder(name, at: file.path)
        } catch {
            brokerLog.debug("A peer's shared folder is ignored: \(error.message)")
            return nil
        }
    }

    // MARK: Mapping

    /// The URL here of what `url` names at the origin; nil if it is in no folder that both have, or if a link leads out of
    /// that. This blocks as long as the file system does.
    func url(_ url: String) -> String? {
        guard let file = FileURL(url), let path = here.path(ofItemAt: file.path, among: origin),
            let folder = here.item(at: path).flatMap({ here[$0.folder] }),
            !SharedLinks.lead(path, outOf: folder.path)
        else { return nil }
        return FileURL.text(path, suffix: file.suffix)
    }

    /// The path here of the document that is `url` at the origin, and the innermost shared folder that it lies in; nil if
    /// it is in no folder that both have, or cannot be written as text.
    func place(ofDocument url: String) -> (path: String, folder: String)? {
        guard let file = FileURL(url), file.suffix.isEmpty,
            let item = origin.item(at: file.path), !item.way.isEmpty, item.way.last != UInt8(ascii: "/"),
            let path = here.path(ofItemAt: file.path, among: origin),
            let folder = here.item(at: path).flatMap({ here[$0.folder] }),
            let text = String(validating: path, as: UTF8.self),
            let place = String(validating: folder.path, as: UTF8.self)
        else { return nil }
        return (text, place)
    }

    /// `userInfo`, which has been checked, with the tagged URLs that have another form here. They grow by at most `room`
    /// bytes in all: any further one stays as it is. This blocks as long as the file system does.
    func mapped(_ userInfo: Value, room: Int) -> Value {
        guard !origin.isEmpty else { return userInfo }
        var room = room
        let mapped = userInfo.replacingStructures { structure in
            guard let url = Self.url(of: structure), let new = self.url(url), new != url else { return nil }
            // Alignment may add up to seven bytes, but never more than the next multiple of eight.
            let growth = max(0, new.utf8.count - url.utf8.count + 7) & ~7
            guard growth <= room else { return nil }
            room -= growth
            return [structure.fields[0], .variant(.string(new))]
        }
        return mapped ?? userInfo
    }

    /// The text of a tagged URL of a file; nil if `structure` is anything else.
    static func url(of structure: StructureValue) -> String? {
        guard structure.fields.count == 2, structure.fields[0] == .string(UserInfoRules.urlTag),
            case .variant(.string(let url)) = structure.fields[1], FileURL.isFile(url)
        else { return nil }
        return url
    }
}
