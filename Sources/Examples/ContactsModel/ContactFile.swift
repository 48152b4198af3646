// SPDX-License-Identifier: LGPL-2.1-or-later
internal import FoundationEssentials
internal import Glibc
internal import Platform

/// The contacts in a file. After a crash at any moment it is as it was before a change or as it is after it; several
/// processes may use it at the same time.
///
/// Every call blocks until the disk has done its part, so it belongs on a thread of its own.
package struct ContactFile: Sendable {
    /// What was found in the file.
    package struct Contents: Sendable {
        /// The contacts.
        package var list: ContactList
        /// Where a damaged file was put, if there was one.
        package var setAside: String?
    }

    /// Why the contacts can't be read or written, and what to do.
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// Why, and what to do.
        package let description: String
    }

    private struct Form: Codable {
        static let version = 1
        let version: Int
        let contacts: [Contact]
    }

    private struct Version: Decodable {
        let version: Int
    }

    /// Where the file is.
    package let path: String

    /// The most bytes that it may have: more than a hundred thousand contacts take that somebody has typed.
    package static let maximumSize = 64 << 20

    /// How long another process may keep the contacts for itself before that is a failure.
    package static let patience = Duration.seconds(10)

    private let maximumSize: Int
    private let patience: Duration

    /// The file at `path`, which need not exist yet.
    package init(
        path: String, maximumSize: Int = Self.maximumSize, patience: Duration = Self.patience
    ) {
        self.path = SmallFile.target(of: path)
        self.maximumSize = maximumSize
        self.patience = patience
    }

    /// The user's contacts.
    package static func ofUser() -> ContactFile {
        ContactFile(path: UserDirectories.data + "/handoff-contacts/contacts.json")
    }

    /// Reads the contacts. A file that can't be understood is renamed, and told of in the answer.
    package func read() throws(Failure) -> Contents {
        try withLock { () throws(Failure) in try readLocked() }
    }

    /// Changes the contacts: reads them anew, lets `body` change them, and writes them.
    /// - Returns: what is in the file now.
    package func change(_ body: (inout ContactList) -> Void) throws(Failure) -> Contents {
        try withLock { () throws(Failure) in
            var contents = try readLocked()
            body(&contents.list)
            guard contents.list.count <= ContactList.maximumCount else {
                throw Failure(
                    description: tr(
                        "There can't be more than {count} contacts. Delete some.",
                        ["count": "\(ContactList.maximumCount)"])
                )
            }
            try write(contents.list)
            return contents
        }
    }

    // MARK: Reading and writing

    /// Where the contacts are written before they take the place of the file.
    private var part: String { "\(path).part" }

    private func readLocked() throws(Failure) -> Contents {
        let bytes: [UInt8]?
        do throws(KeyFileError) {
            bytes = try SmallFile.read(path, maximumSize: maximumSize)
        } catch {
            throw Failure(description: "\(error)")
        }
        guard let bytes else { return Contents(list: ContactList()) }
        let decoder = JSONDecoder()
        if let version = try? decoder.decode(Version.self, from: Data(bytes)), version.version > Form.version
        {
            throw Failure(
                description: tr(
                    "A newer version of Contacts has written {path}. Use that version.", ["path": path]))
        }
        do {
            let form = try decoder.decode(Form.self, from: Data(bytes))
            let latest = latestMoment
            return Contents(list: ContactList(form.contacts.lazy.map { $0.changed(atMost: latest) }))
        } catch {
            return Contents(list: ContactList(), setAside: try setAside())
        }
    }

    /// The latest moment at which something in the file can have been changed. As it is that of the file, a contact has the
    /// same time whenever it is read.
    private var latestMoment: Int64 {
        var status = stat()
        guard stat(path, &status) == 0 else { return Moment.now }
        let seconds = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000)
        if seconds.overflow { return Moment.now }
        return min(Moment.now, seconds.partialValue + Int64(status.st_mtim.tv_nsec) / 1_000)
    }

    private func write(_ list: ContactList) throws(Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let form = Form(version: Form.version, contacts: list.contacts)
            let bytes = [UInt8](try encoder.encode(form))
            // A longer file could be written, but not be read again.
            guard bytes.count <= maximumSize else {
                throw Failure(
                    description: tr(
                        "The contacts take {size} bytes, more than {maximum}. Shorten or delete some.",
                        ["size": "\(bytes.count)", "maximum": "\(maximumSize)"])
                )
            }
            try SmallFile.write(bytes, to: part)
        } catch {
            throw Failure(description: "\(error)")
        }
        guard rename(part, path) == 0 else {
            let reason = SystemError.last
            throw Failure(
                description: tr(
                    "{path} can't be replaced: {reason}. Move it away.", ["path": path, "reason": reason]))
        }
        persistFolder()
    }

    /// Has the disk keep that a file was renamed. Where it can't, a crash of the machine may bring the former contacts back.
    private func persistFolder() {
        guard let slash = path.lastIndex(of: "/") else { return }
        let descriptor = open(String(path[...slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// Renames the file, so that it is kept but no longer used, and returns what it is called now.
    private func setAside() throws(Failure) -> String {
        for number in 1...999 {
            let aside = "\(path).damaged-\(number)"
            // Unlike a renaming, a link never takes the place of a file that is there.
            if link(path, aside) == 0 {
                guard unlink(path) == 0 else { break }
                return aside
            }
            guard errno == EEXIST else { break }
        }
        let reason = SystemError.last
        throw Failure(
            description: tr(
                "{path} is damaged and can't be renamed: {reason}. Move it away.",
                ["path": path, "reason": reason]))
    }

    // MARK: One at a time

    private func withLock<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        do throws(KeyFileError) {
            try SmallFile.makeFolder(of: path)
        } catch {
            throw Failure(description: "\(error)")
        }
        let lock = try FileLock("\(path).lock", within: patience)
        removeLeftovers()
        return try withExtendedLifetime(lock) { () throws(Failure) in try body() }
    }

    /// Removes what processes that were killed while they wrote have left. Nobody else writes now.
    private func removeLeftovers() {
        guard let slash = path.lastIndex(of: "/"), let folder = opendir(String(path[..<slash])) else {
            return
        }
        defer { closedir(folder) }
        let part = String(part[path.index(after: slash)...])
        while let name = FolderNames.next(in: folder) {
            // As g_file_set_contents_full() names what it writes. What else begins like the file is the user's, such as a copy.
            let isUnfinished = name.hasPrefix(part + ".") && name.utf8.count == part.utf8.count + 7
            if name == part || isUnfinished { unlinkat(dirfd(folder), name, 0) }
        }
    }
}
