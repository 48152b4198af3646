// SPDX-License-Identifier: LGPL-2.1-or-later
internal import FoundationEssentials

/// The content of an association file: JSON in which `activitycontinuation`, `apps` lists whom a site gives its pages.
enum AssociationFile {
    private struct Root: Decodable {
        let activitycontinuation: Continuation?
    }

    private struct Continuation: Decodable {
        let apps: [Entry]?
    }

    /// An entry of the list. What is not a text is passed over, as are other parts of the file that are not known here.
    private struct Entry: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    /// The texts that `bytes` lists, in their order.
    ///
    /// Foundation's parser gives up where containers are nested 512 deep, so that depth harms nobody.
    /// - Throws: if that is not such a file.
    static func applications(in bytes: [UInt8]) throws(UnusableFile) -> [String] {
        let root: Root
        do {
            root = try JSONDecoder().decode(Root.self, from: Data(bytes))
        } catch {
            throw UnusableFile("is not JSON of the expected shape, and not signed either.")
        }
        guard let apps = root.activitycontinuation?.apps else {
            throw UnusableFile("names no applications: it has no activitycontinuation with apps.")
        }
        return apps.compactMap(\.text)
    }
}
