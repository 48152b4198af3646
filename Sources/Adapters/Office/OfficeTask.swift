// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// What the office is to show, and how.
struct OfficeTask: Equatable, Sendable {
    /// How a document is shown.
    enum Mode: Equatable, Sendable {
        /// As any document of the user's.
        case edit
        /// To be read, until the user says otherwise, as what was downloaded.
        case view
        /// As one that was never saved, under this name.
        case unsaved(String)
    }

    /// The application that shows such documents.
    let application: OfficeApplication
    /// The file, an absolute path.
    let file: String
    /// How it is shown.
    let mode: Mode
    /// Where in it its user was; nil for the beginning.
    let place: OfficePlace?
    /// The file as it has come for this alone, to be removed once it is shown as not saved; nil if it is to stay.
    var copy: FileMark?

    /// What tells a file from another one, and from itself once it was changed.
    struct FileMark: Equatable, Sendable {
        /// How large it is, in bytes.
        let size: Int
        private let numbers: [Int]

        /// The regular file at `path`, which has no other name; nil if there is none. This may block.
        init?(_ path: String) {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
                return nil
            }
            size = status.st_size
            numbers = [
                Int(status.st_dev), Int(status.st_ino), status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
            ]
        }
    }

    /// The members of the question that asks for it.
    var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["ask": "open", "file": .string(file)]
        switch mode {
        case .edit: members["mode"] = "edit"
        case .view: members["mode"] = "view"
        case .unsaved(let name): (members["mode"], members["name"]) = ("unsaved", .string(name))
        }
        return members.merging(place?.members ?? [:]) { $1 }
    }

    /// It as `EditorAdapter.TakePending` returns it.
    var pending: [String: Value] {
        var pending: [String: Value] = ["Path": .string(file), "Mode": .string("edit")]
        switch mode {
        case .edit: break
        case .view: pending["Mode"] = .string("view")
        case .unsaved(let name): (pending["Mode"], pending["Name"]) = (.string("unsaved"), .string(name))
        }
        if let place { pending["Place"] = .properties(place.entries) }
        if copy != nil { pending["IsCopy"] = .boolean(true) }
        return pending
    }

    /// What was returned; nil for nothing. This may block.
    init?(pending: [String: Value]) {
        guard let file = pending["Path"]?.string, UserFile.isUsable(file), let format = Self.format(of: file)
        else { return nil }
        let mode: Mode
        switch pending["Mode"]?.string {
        case "edit": mode = .edit
        case "view": mode = .view
        case "unsaved": mode = .unsaved(pending["Name"]?.string ?? "")
        default: return nil
        }
        self.init(
            application: format.application, file: file, mode: mode,
            place: pending["Place"]?.properties.flatMap(OfficePlace.init))
        if pending["IsCopy"] == .boolean(true) { copy = FileMark(file) }
    }

    private init(application: OfficeApplication, file: String, mode: Mode, place: OfficePlace?) {
        (self.application, self.file, self.mode, self.place) = (application, file, mode, place)
        copy = nil
    }

    /// What an activity shows on this machine.
    /// - Parameter received: the folder that documents of other devices are placed in.
    /// - Throws: if its document is not here, with what to say to the user.
    @MainLoop
    static func of(
        _ activity: HandedActivity, received: String, _ looks: FileLooks
    ) async throws -> OfficeTask {
        let url = activity.properties["DocumentURL"]?.string ?? ""
        let isNew = activity.isDocumentNew
        let found = try await looks.find(.openedDocument, of: url) {
            () -> (String, OfficeFormat, FileMark?)? in
            guard let path = UserFile.path(url), let format = format(of: path) else { return nil }
            return (path, format, isNew ? FileMark(path) : nil)
        }
        guard let (file, format, mark) = found else {
            throw HandoffFailure(
                .applicationFailed,
                tr(
                    "The document is not available on this device, or is not one that is given to "
                        + "LibreOffice. Open it on the device that it comes from."))
        }
        // Compared as bytes: what a name begins with would make another character of the slash before it.
        let isReceived = isNew || file.utf8.starts(with: "\(received)/".utf8)
        let name = ShownDocument(file: nil, name: activity.userInfo[OfficeKey.unsaved]?.string)?.name
        var task = OfficeTask(
            application: format.application, file: file,
            mode: isReceived ? name.map { .unsaved($0) } ?? .view : .edit,
            place: OfficePlace(activity.userInfo))
        if case .unsaved = task.mode { task.copy = mark }
        return task
    }

    /// Removes the copy that has come for this alone, if nobody has touched it since. This may block.
    func removeCopy() {
        if let copy, FileMark(file) == copy { unlink(file) }
    }

    /// What kind of document is at `path`; nil if none is that the office is to be given. This may block.
    static func format(of path: String) -> OfficeFormat? {
        guard let head = try? FileHead(of: path, count: OfficeFormat.head) else { return nil }
        return OfficeFormat(name: head.name, bytes: head.bytes)
    }
}

/// The keys of `UserInfo` of what is edited in the office, beside those of ``OfficePlace``.
enum OfficeKey {
    /// The application, by its id (`s`).
    static let application = "application"
    /// What a document is called whose copy goes along, since it was not saved (`s`).
    static let unsaved = "unsaved"
}
