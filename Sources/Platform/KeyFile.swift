// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Why a key file cannot be used, for people to read: with the name of the file, the group and the key.
package struct KeyFileError: Error, Equatable, CustomStringConvertible, Sendable {
    /// Whether the file itself is wrong, rather than the disk or the permissions.
    package let isDamage: Bool
    /// Whether it failed only because no descriptor was left.
    package let isShortage: Bool
    /// What is wrong with which file, and what to do, if something can be done.
    package let description: String

    /// An error that says `description`.
    package init(_ description: String, isDamage: Bool = true, isShortage: Bool = false) {
        self.description = description
        self.isDamage = isDamage
        self.isShortage = isShortage
    }
}

/// A key file (GKeyFile): groups of keys with values, as in desktop entries.
///
/// It is not bound to an actor, and must be used by one at a time.
package final class KeyFile {
    let raw: OpaquePointer
    /// The name of the file in messages.
    let name: String
    /// The group of each header that was read, including repeated ones.
    private let headers: [[UInt8]]

    /// The longest file that is read unless the caller says otherwise.
    package static let defaultMaximumSize = 1 << 20

    /// A key file without groups.
    package init() {
        raw = g_key_file_new()
        name = "the key file"
        headers = []
    }

    /// Parses `text` as a key file; `name` is what messages call it.
    /// - Throws: if it is not a key file.
    package init(text: String, name: String = "the key file") throws(KeyFileError) {
        raw = g_key_file_new()
        self.name = name
        headers = Self.headers(in: text)
        do throws(GLibError) {
            _ = try throwingGError { error in
                g_key_file_load_from_data(raw, text, gsize(text.utf8.count), Self.flags, error)
            }
        } catch {
            throw KeyFileError("\(name) is not a key file: \(error.message)")
        }
    }

    /// Nothing must be lost when the file is saved again.
    private static let flags = GKeyFileFlags(
        rawValue: G_KEY_FILE_KEEP_COMMENTS.rawValue | G_KEY_FILE_KEEP_TRANSLATIONS.rawValue)

    /// Reads the file at `path`.
    /// - Returns: nil if there is none.
    /// - Throws: if it cannot be read, is not a regular file, is longer than `maximumSize`, or is not a key
    ///   file.
    package static func load(
        _ path: String, maximumSize: Int = KeyFile.defaultMaximumSize
    ) throws(KeyFileError) -> KeyFile? {
        guard let bytes = try SmallFile.read(path, maximumSize: maximumSize) else { return nil }
        return try KeyFile(bytes: bytes, name: path)
    }

    /// Reads the user's settings at `path`.
    /// - Returns: a key file without groups if there are none.
    /// - Throws: also if it cannot be known whether there are any (``SmallFile/checkAbsence(of:)``).
    package static func settings(_ path: String) throws(KeyFileError) -> KeyFile {
        if let file = try load(path) { return file }
        try SmallFile.checkAbsence(of: path)
        return KeyFile()
    }

    /// Parses `bytes` as a key file; `name` is what messages call it.
    /// - Throws: if they are not a key file.
    package convenience init(bytes: [UInt8], name: String) throws(KeyFileError) {
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw KeyFileError("\(name) is not a key file: it is not UTF-8 text.")
        }
        try self.init(text: text, name: name)
    }

    deinit { g_key_file_unref(raw) }

    /// The file as text.
    package var text: String {
        guard let text = g_key_file_to_data(raw, nil, nil) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }

    // MARK: Groups

    /// The names of the groups, in the order of the file.
    package var groups: [String] { Self.strings(g_key_file_get_groups(raw, nil)) }

    /// Whether the text that was read names a group twice, which GKeyFile silently merges.
    package var hasRepeatedGroups: Bool { Set(headers).count < headers.count }

    /// The names in the headers of `text`, found where GKeyFile finds them: after any amount of space, and
    /// possibly before some.
    private static func headers(in text: String) -> [[UInt8]] {
        let spaces = Array(" \t\r\u{C}".utf8)
        return text.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let header = line.drop { spaces.contains($0) }
            guard header.first == UInt8(ascii: "["), let end = header.firstIndex(of: UInt8(ascii: "]")) else {
                return nil
            }
            return Array(header[..<end].dropFirst())
        }
    }

    /// The names of the keys of `group`; none if there is no such group.
    package func keys(in group: String) -> [String] {
        Self.strings(g_key_file_get_keys(raw, group, nil, nil))
    }

    /// Removes `key` from `group`, however often it stands there: GKeyFile knows the last alone, and keeps the others.
    package func removeKey(_ key: String, in group: String) {
        while g_key_file_remove_key(raw, group, key, nil) != 0 {
            guard let text = g_key_file_to_data(raw, nil, nil) else { return }
            defer { g_free(text) }
            // What GKeyFile has written itself it can read.
            guard g_key_file_load_from_data(raw, text, gsize(strlen(text)), Self.flags, nil) != 0 else {
                return
            }
        }
    }

    // MARK: Saving

    /// Writes the file to `path`, for this user alone (0600), so that after a crash at any moment the file is
    /// as it was before or as it is now. The folder is made if it is missing (0700).
    /// - Throws: also if nobody would read it again, because it is longer than ``defaultMaximumSize``.
    package func save(to path: String) throws(KeyFileError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.defaultMaximumSize else {
            throw KeyFileError(
                "\(path) would be longer than \(Self.defaultMaximumSize) bytes. Take something out of it first.",
                isDamage: false)
        }
        try SmallFile.write(bytes, to: path)
    }

    static func strings(_ list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> [String] {
        guard let list else { return [] }
        defer { g_strfreev(list) }
        var (strings, index): ([String], Int) = ([], 0)
        while let text = list[index] {
            strings.append(String(cString: text))
            index += 1
        }
        return strings
    }
}
