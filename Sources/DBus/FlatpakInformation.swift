// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import Platform

/// What `.flatpak-info` in the root directory of a sandbox says (flatpak-metadata(5)).
struct FlatpakInformation: Equatable {
    /// The id of the application; empty if it says none, in which case no id belongs to the application.
    private(set) var application = ""
    /// Which of its sandboxes it is; empty if it does not say.
    private(set) var instance = ""

    /// The longest `.flatpak-info` that is read: one lists all mounts and permissions of its application.
    private static let maximumSize = 1 << 20

    /// What `file` says; nothing if it cannot be read.
    init(_ file: borrowing FileDescriptor) {
        guard let bytes = ProcessDirectory.contents(of: file, atMost: Self.maximumSize), !bytes.isEmpty else {
            return
        }
        let keys = g_key_file_new()
        defer { g_key_file_unref(keys) }
        let isRead = bytes.withUnsafeBytes {
            g_key_file_load_from_data(
                keys, $0.baseAddress?.assumingMemoryBound(to: CChar.self), gsize($0.count), G_KEY_FILE_NONE,
                nil)
        }
        guard isRead != 0 else { return }
        func text(_ group: String, _ key: String) -> String {
            guard let text = g_key_file_get_string(keys, group, key, nil) else { return "" }
            defer { g_free(text) }
            return String(cString: text)
        }
        application = text("Application", "name")
        instance = text("Instance", "instance-id")
    }

    /// The information of the sandbox that a process is in; nil if it is in none, or cannot be examined.
    init?(of process: borrowing ProcessDirectory) {
        guard case .regular(let file) = process.file(inRoot: ".flatpak-info") else { return nil }
        self.init(file)
    }

    /// The first process in the sandbox, as Flatpak has written it down in the user's `runtimeFolder`; nil if it has
    /// not.
    func firstProcess(in runtimeFolder: String = UserDirectories.runtime) -> UInt32? {
        guard !instance.isEmpty, instance.utf8.count <= 64,
            instance.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        let path = "\(runtimeFolder)/.flatpak/\(instance)/bwrapinfo.json"
        guard let bytes = try? SmallFile.read(path, maximumSize: 1 << 16) else { return nil }
        return Self.process(in: bytes)
    }

    /// The number behind `"child-pid":` in what bubblewrap has written, which is a flat object.
    static func process(in json: [UInt8]) -> UInt32? {
        let key = Array("\"child-pid\"".utf8)
        guard let start = json.indices.first(where: { json[$0...].starts(with: key) }) else { return nil }
        let spaces = Set(" \t\r\n".utf8)
        var rest = json[(start + key.count)...].drop { spaces.contains($0) }
        guard rest.popFirst() == UInt8(ascii: ":") else { return nil }
        rest = rest.drop { spaces.contains($0) }
        let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        return UInt32(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
    }
}

extension Caller {
    /// The root directory that a caller in a Flatpak sees, as a descriptor that can only be looked at; nil if it is in
    /// none, or if that cannot be found out, as when its process is gone. This reads files, and may wait for them.
    ///
    /// On the bus, such a caller usually is the proxy that filters what it says, and that sees all files of the user.
    /// So what counts is the first process in the sandbox itself, if it is in the same sandbox as the caller.
    package func sandboxRoot() -> FileDescriptor? {
        guard case .flatpak(let application)? = sandbox, !application.isEmpty,
            let number = credentials?.processID, let proxy = ProcessDirectory("/proc/\(number)"),
            proxy.isAlive,
            let information = FlatpakInformation(of: proxy), information.application == application,
            let first = information.firstProcess(), let process = ProcessDirectory("/proc/\(first)"),
            process.isAlive, FlatpakInformation(of: process) == information, let root = process.root(),
            // If one of them has ended in the meantime, what was seen may be of another process.
            process.isAlive, proxy.isAlive
        else { return nil }
        return root
    }
}
