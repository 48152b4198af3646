// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffCore
internal import Platform

/// A document that is on its way: a hidden file, which gets its name once it is complete. If it is freed before that,
/// the file is gone.
///
/// The file is locked as long as somebody is writing to it, so that it can be told apart from one that a program which
/// was killed has left behind.
final class PartialFile {
    let folder: ReceivedFolder
    private let descriptor: FileDescriptor
    private let name: String
    /// What is there has its final name.
    private var isPlaced = false
    /// How many bytes have been written.
    private(set) var count: UInt64 = 0
    /// How many bytes may be written.
    private var limit: UInt64
    /// How many bytes were announced, 0 if that is not known.
    private let announced: UInt64
    /// For how many bytes there is space.
    private var setAside: UInt64 = 0
    /// How many bytes the disk has been told to write.
    private var started: UInt64 = 0
    /// How many bytes are on the disk.
    private var settled: UInt64 = 0

    private static let (prefix, suffix) = (".handoff-", ".part")
    /// As many bytes are handed to the disk at a time, and at most twice as many wait for it. So what is left to do at
    /// the end takes no longer than bytes may be missing, and a disk that is slower than the network slows the sender.
    private static let batch: UInt64 = 16 << 20
    /// For how many bytes at a time space is set aside.
    private static let step: UInt64 = 64 << 20
    /// How often the file is made if others take it for one that was left behind.
    private static let attempts = 64
    /// How many documents may have one name.
    private static let maximumNumber = 9999

    /// Makes the file, for a document of `size` bytes, if that is known: then there is room for all of them.
    /// - Throws: if there is not enough room, or the file cannot be made.
    init(in folder: ReceivedFolder, size: UInt64?) throws(HandoffFailure) {
        self.folder = folder
        let room = folder.room
        limit = size ?? room
        guard limit <= room else { throw Self.noRoom(needed: limit, room: room, folder) }
        var name = ""
        descriptor = try Self.make(&name, in: folder, attempts: Self.attempts)
        self.name = name
        announced = size ?? 0
        do {
            try setSpaceAside(to: 0)
        } catch {
            unlinkat(folder.descriptor.number, name, 0)
            throw error
        }
    }

    /// Sets space aside a little ahead of what comes. Set aside for all that was announced, it would be taken from the
    /// user for as long as somebody likes who announces much and sends little. What has been set aside before is left
    /// out, since some file systems go through all of it again, which takes longer and longer.
    private func setSpaceAside(to end: UInt64) throws(HandoffFailure) {
        guard end >= setAside, setAside < announced else { return }
        let next = min(announced, end + Self.step)
        guard
            handoff_set_space_aside(
                descriptor.number, Int64(clamping: setAside), Int64(clamping: next - setAside)) == 0
                || ![ENOSPC, EDQUOT, EFBIG].contains(errno)
        else { throw Self.noRoom(needed: announced - count, room: folder.room, folder) }
        setAside = next
    }

    deinit {
        if !isPlaced { unlinkat(folder.descriptor.number, name, 0) }
    }

    /// Makes the file under a new name, which this sets.
    private static func make(
        _ name: inout String, in folder: ReceivedFolder, attempts: Int
    ) throws(HandoffFailure) -> FileDescriptor {
        name = prefix + Digest.hexadecimal(RandomBytes.make(16)) + suffix
        let number = folder.open(name, O_RDWR | O_CREAT | O_EXCL)
        guard number >= 0 else { throw failure("cannot be made", folder) }
        let descriptor = FileDescriptor(owning: number)
        // Some file systems have no locks.
        let isLocked = flock(number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
        // Another broker that has just started may have taken it for one that was left behind, before it was locked.
        guard isLocked, let identity = FileIdentity(of: number),
            identity == FileIdentity(name, in: folder.descriptor.number)
        else {
            guard attempts <= 1 else { return try make(&name, in: folder, attempts: attempts - 1) }
            throw HandoffFailure(
                .limitsExceeded,
                "The document was taken for one that was left behind, and removed. Try again.")
        }
        return descriptor
    }

    // MARK: Writing

    /// Adds `bytes`.
    /// - Throws: if there is no room left, or writing fails.
    func write(_ bytes: UnsafeRawBufferPointer) throws(HandoffFailure) {
        guard UInt64(bytes.count) <= limit - count else {
            throw Self.noRoom(needed: count + UInt64(bytes.count), room: limit, folder)
        }
        try setSpaceAside(to: count + UInt64(bytes.count))
        var rest = bytes[...]
        while !rest.isEmpty {
            let place = count + UInt64(bytes.count - rest.count)
            let written = pwrite(
                descriptor.number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count,
                Int(clamping: place))
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if written == 0 || errno != EINTR {
                throw writingFailure(bytes.count)
            }
        }
        count += UInt64(bytes.count)
        if count - started >= Self.batch { try settle() }
    }

    private func writingFailure(_ more: Int) -> HandoffFailure {
        guard [ENOSPC, EDQUOT, EFBIG].contains(errno) else {
            return Self.failure("cannot be written", folder)
        }
        return Self.noRoom(needed: count + UInt64(more), room: folder.room, folder)
    }

    /// Hands what has been written to the disk, and waits for what it was handed before.
    private func settle() throws(HandoffFailure) {
        let file = descriptor.number
        guard
            handoff_write_to_disk(file, Int64(started), Int64(count - started), 0) == 0 || errno == ESPIPE
                || errno == ENOSYS,
            started == settled
                || handoff_write_to_disk(file, Int64(settled), Int64(started - settled), 1) == 0
                || errno == ESPIPE
                || errno == ENOSYS
        else { throw Self.failure("cannot be written", folder) }
        (settled, started) = (started, count)
    }

    // MARK: The end

    /// Gives the file, which is finished, its name, or one with a number if that is taken. From then on it stays, even if the
    /// machine goes down. If the same document is there already, that is what is placed, and this file goes.
    /// - Parameter former: what this takes the place of, if it is as it was left.
    func place(
        _ name: DocumentName, replacing former: PlacedDocument?
    ) throws(HandoffFailure) -> PlacedDocument {
        if let former { ReceivedFolder(existingAt: former.folder)?.remove(former) }
        let (chosen, known) = try rename(to: name, in: folder)
        let realPath = folder.realPath.map { "\($0)/\(chosen)" }
        if let known {
            return PlacedDocument(
                folder: folder.path, name: chosen, identity: known, isNew: false, isWritten: false,
                realPath: realPath)
        }
        isPlaced = true
        guard let identity = FileIdentity(of: descriptor.number), folder.sync(),
            FileIdentity("\(folder.path)/\(chosen)", in: AT_FDCWD) == identity
        else {
            throw HandoffFailure(
                .accessDenied,
                "\(PeerText.message(chosen)) has been received, but is not where it was placed, in"
                    + " \(PeerText.message(folder.path)). Look for it where that folder was moved to.")
        }
        return PlacedDocument(folder: folder.path, name: chosen, identity: identity, realPath: realPath)
    }

    /// Takes the place of `file`, unless that is in another state by now than when it was looked at, or in use. What was
    /// there goes, and its rights stay.
    /// - Parameter isWork: whether what was there is the user's work: then it goes to the trash.
    /// - Returns: nil if it does not; then it can still be placed.
    func replace(_ file: KnownFile, isWork: Bool) -> PlacedDocument? {
        guard fchmod(descriptor.number, file.mode) == 0, file.mayBeReplaced(by: descriptor.number),
            exchange(with: file, isWork),
            let identity = FileIdentity(of: descriptor.number)
        else {
            fchmod(descriptor.number, 0o600)
            return nil
        }
        if isWork { discard(file) }
        if !file.folder.sync() {
            brokerLog.info(
                "\(PeerText.message(file.path)) may be the former one after a crash: \(SystemError.last).")
        }
        return PlacedDocument(
            folder: file.folder.path, name: file.name, identity: identity, isNew: false, realPath: file.path)
    }

    /// Puts what was at the place of `file` into the trash, or else beside it.
    private func discard(_ file: KnownFile) {
        guard !isPlaced, let name = putAside(file) else { return }
        let former = g_file_new_for_path("\(file.folder.path)/\(name)")
        defer { g_object_unref(UnsafeMutableRawPointer(former)) }
        if g_file_trash(former, nil, nil) == 0 {
            brokerLog.info(
                "\(PeerText.message(name)) is what \(PeerText.message(file.name)) was: it is not in the trash."
            )
        }
    }

    /// Has the two files take each other's name.
    /// - Returns: whether they did; if not, everything is where it was.
    private func exchange(with file: KnownFile, _ isWork: Bool) -> Bool {
        let (here, there) = (folder.descriptor.number, file.folder.descriptor.number)
        guard FileIdentity(file.name, in: there) == file.identity else { return false }
        guard handoff_exchange_names(here, name, there, file.name) == 0 else {
            // Some file systems can only rename at once.
            guard !isWork, errno == EINVAL || errno == ENOSYS, renameat(here, name, there, file.name) == 0
            else {
                return false
            }
            isPlaced = true
            return true
        }
        // Only now nobody finds it any longer by its name, to write to it.
        if FileIdentity(name, in: here) == file.identity { return true }
        _ = handoff_exchange_names(here, name, there, file.name)
        let own = FileIdentity(of: descriptor.number)
        guard FileIdentity(name, in: here) != own else { return false }
        // Somebody was faster once more: what they have written is not to be removed as this file would be.
        _ = putAside(file)
        return FileIdentity(file.name, in: there) == own
    }

    /// Gives what has the hidden name now a free one, that of `file` with a number. From then on it stays.
    /// - Returns: that name; nil if none is free, and it keeps the hidden one.
    private func putAside(_ file: KnownFile) -> String? {
        isPlaced = true
        let wanted = DocumentName(file.name)
        for number in 2...Self.maximumNumber {
            let candidate = wanted.fileName(number)
            if rename(to: candidate, in: file.folder) { return candidate }
            guard errno == EEXIST else { return nil }
        }
        return nil
    }

    /// Everything is there: it is on the disk from now on, and was modified at this time, in microseconds since the Unix
    /// epoch; nil for now.
    func finish(_ modified: Int64?) throws(HandoffFailure) {
        if let modified {
            let (seconds, rest) = modified.quotientAndRemainder(dividingBy: 1_000_000)
            let times = [
                timespec(tv_sec: 0, tv_nsec: 0x3FFF_FFFE),
                timespec(tv_sec: Int(seconds), tv_nsec: Int(rest) * 1000),
            ]
            // Without it, the document has the time of its arrival.
            _ = futimens(descriptor.number, times)
        }
        guard fsync(descriptor.number) == 0 else { throw Self.failure("cannot be written", folder) }
    }

    /// - Returns: the name, and what has it if the same document was there already.
    private func rename(
        to wanted: DocumentName, in target: ReceivedFolder
    ) throws(HandoffFailure) -> (String, FileIdentity?) {
        let maximum = target.maximumName
        for number in 1...Self.maximumNumber {
            let candidate = wanted.fileName(number, bytes: maximum)
            if rename(to: candidate, in: target) { return (candidate, nil) }
            guard errno == EEXIST else { throw Self.failure("cannot be given its name", target) }
            if let known = target.same(as: descriptor, count: count, candidate) { return (candidate, known) }
        }
        throw HandoffFailure(
            .limitsExceeded,
            "There are \(Self.maximumNumber) documents called \"\(PeerText.message(wanted.description))\" in"
                + " \(PeerText.message(target.path)). Remove some, then try again.")
    }

    private func rename(to candidate: String, in target: ReceivedFolder) -> Bool {
        let (here, there) = (folder.descriptor.number, target.descriptor.number)
        if handoff_rename_to_free_name(here, name, there, candidate) == 0 { return true }
        guard errno == EINVAL || errno == ENOSYS else { return false }
        // Some file systems cannot do that at once, but all of those know links.
        guard linkat(here, name, there, candidate, 0) == 0 else { return false }
        unlinkat(here, name, 0)
        return true
    }

    // MARK: What was left behind

    /// Removes the files that nobody writes to any longer.
    /// - Returns: how many there were.
    static func removeAbandoned(from folder: ReceivedFolder) -> Int {
        let copy = folder.open(".", O_RDONLY | O_DIRECTORY)
        guard copy >= 0 else { return 0 }
        guard let entries = fdopendir(copy) else {
            close(copy)
            return 0
        }
        defer { closedir(entries) }
        var removed = 0
        while let name = FolderNames.next(in: entries) {
            if isOurs(name), removeIfAbandoned(name, folder) { removed += 1 }
        }
        return removed
    }

    /// Whether it is a name that this gives to files.
    static func isOurs(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
        let digits = name.dropFirst(prefix.count).dropLast(suffix.count)
        return digits.utf8.count == 32 && digits.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    private static func removeIfAbandoned(_ name: String, _ folder: ReceivedFolder) -> Bool {
        // It may be anything, a pipe too.
        let number = folder.open(name, O_RDONLY | O_NONBLOCK)
        guard number >= 0 else { return false }
        let descriptor = FileDescriptor(owning: number)
        guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else { return false }
        return unlinkat(folder.descriptor.number, name, 0) == 0
    }

    // MARK: Failures

    private static func failure(_ what: String, _ folder: ReceivedFolder) -> HandoffFailure {
        HandoffFailure(
            .accessDenied,
            "The document \(what) in \(PeerText.message(folder.path)): \(SystemError.last). Put that right, then try"
                + " again.")
    }

    private static func noRoom(needed: UInt64, room: UInt64, _ folder: ReceivedFolder) -> HandoffFailure {
        HandoffFailure(
            .limitsExceeded,
            "The document does not fit into \(PeerText.message(folder.path)): it has \(ByteCount.text(needed)) or more,"
                + " and there is room for \(ByteCount.text(room)). Make room there, then try again.")
    }
}
