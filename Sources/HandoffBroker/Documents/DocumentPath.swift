// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffInterfaces
internal import Platform

/// Where the document of an activity is, as its application has named it: the folder, and the name in it.
struct DocumentPath {
    /// The path of the folder and the name, as the bytes that the file system knows, each with a zero at its end.
    private let folder: [UInt8]
    private let name: [UInt8]

    /// - Throws: if `url` names no file.
    init(_ url: String) throws(HandoffFailure) {
        guard let file = FileURL(url), file.suffix.isEmpty,
            let slash = file.path.lastIndex(of: UInt8(ascii: "/"))
        else { throw Self.noFile }
        let bytes = file.path
        let name = bytes[(slash + 1)...]
        // A folder's name: there is no document in it.
        guard !name.isEmpty, !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) else {
            throw Self.noFile
        }
        folder = bytes[...slash] + [0]
        self.name = name + [0]
    }

    private static let noFile = HandoffFailure(
        .notSupported, "The activity's document has no file name. Ask its application for help.")

    /// The name as a peer is told it.
    var shownName: String {
        var name = String(decoding: name.dropLast(), as: UTF8.self)
        // What is no text has become longer.
        while name.utf8.count > DocumentDescription.maximumLength { name.removeLast() }
        return name
    }

    /// The MIME type that belongs to the name; empty if none does. This blocks as long as the file system does.
    var contentType: String {
        let type = DocumentKind.type(ofName: shownName)
        return type.utf8.count <= DocumentDescription.maximumLength ? type : ""
    }

    // MARK: Finding it

    /// Finds the file, as far as `caller` may see it: in its folder, which no link may lead out of.
    /// - Returns: a descriptor that can only be looked at.
    func find(for caller: Caller) throws(HandoffFailure) -> FileDescriptor {
        let folder = try folder(for: caller)
        return try descriptor(FoundFile.find(name, in: folder.number, .beneath))
    }

    private func folder(for caller: Caller) throws(HandoffFailure) -> FileDescriptor {
        switch caller.sandbox {
        case nil:
            return try descriptor(FoundFile.find(folder, in: AT_FDCWD, .none, isFolder: true))
        case .flatpak:
            guard let root = caller.sandboxRoot() else { throw unknownRights }
            return try descriptor(FoundFile.find(folder, in: root.number, .root, isFolder: true))
        case .snap(let snap):
            // What else a snap may read is decided by rules that only the kernel knows.
            let own = Array("\(UserDirectories.home)/snap/\(snap)/".utf8)
            guard folder.starts(with: own) else { throw unknownRights }
            let root = try descriptor(FoundFile.find(own + [0], in: AT_FDCWD, .none, isFolder: true))
            let rest = Array(folder.dropFirst(own.count))
            if rest == [0] { return root }
            return try descriptor(FoundFile.find(rest, in: root.number, .beneath, isFolder: true))
        case .unknown: throw unknownRights
        }
    }

    private func descriptor(_ number: Int32) throws(HandoffFailure) -> FileDescriptor {
        guard number >= 0 else { throw failure(errno) }
        return FileDescriptor(owning: number)
    }

    // MARK: Refusing it

    /// The name in the message of an error.
    private var quoted: String { "“\(PeerText.name(shownName))”" }

    /// It is a folder, a device, or something else.
    var notAFile: HandoffFailure {
        HandoffFailure(.notSupported, "\(quoted) is not a regular file. Continue without it.")
    }

    /// It is none of the user's files.
    var notKept: HandoffFailure {
        HandoffFailure(.accessDenied, "\(quoted) is part of the system, not a document. Continue without it.")
    }

    private var unknownRights: HandoffFailure {
        HandoffFailure(
            .accessDenied,
            "The application of \(quoted) runs in a sandbox, and cannot be shown to have access to the file. Save it"
                + " where the application keeps its own files.")
    }

    /// What the system has refused with this error number.
    func failure(_ number: Int32) -> HandoffFailure {
        switch number {
        case ENOENT, ENOTDIR:
            HandoffFailure(
                .notSupported, "\(quoted) is not where its application says. Save it again, then try again.")
        case EXDEV, ELOOP:
            HandoffFailure(
                .accessDenied,
                "\(quoted) is a link that leads out of its folder. Open the file itself instead.")
        case EACCES, EPERM:
            HandoffFailure(.accessDenied, "\(quoted) may not be read there. Change its permissions.")
        case EMFILE, ENFILE, ENOMEM:
            HandoffFailure(.limitsExceeded, "The other device has too many files open. Try again later.")
        case EIO, ESTALE, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH, ENOTCONN, EAGAIN:
            HandoffFailure(
                .connectionUnavailable,
                "The file system of \(quoted) does not answer (\(SystemError.text(number))). Try again later."
            )
        default:
            HandoffFailure(
                .notSupported, "\(quoted) cannot be opened (\(SystemError.text(number))).")
        }
    }
}
