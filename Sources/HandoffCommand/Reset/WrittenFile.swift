// SPDX-License-Identifier: LGPL-2.1-or-later

/// A file that Handoff writes, with what is left of it if a program was ended while it wrote.
struct WrittenFile {
    private let name: String
    /// How many characters GLib adds to the name of a file that is not whole yet (g_file_set_contents).
    private static let added = 6

    /// The file called `name`.
    init(_ name: String) { self.name = name }

    /// Whether `other` is the name of the file, or of one that is to become it. Anything else that begins so, for example
    /// a copy that the user has made, is not Handoff's.
    func hasName(_ other: String) -> Bool {
        guard other != name else { return true }
        guard other.hasPrefix(name + ".") else { return false }
        let rest = other.utf8.dropFirst(name.utf8.count + 1)
        return rest.count == Self.added
            && rest.allSatisfy {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
    }
}
