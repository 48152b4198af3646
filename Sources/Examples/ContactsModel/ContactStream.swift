// SPDX-License-Identifier: LGPL-2.1-or-later
package import FoundationEssentials

/// How all contacts travel to another device: a line that says how many, then a line for each, in JSON.
package enum ContactStream {
    /// The first line.
    struct Header: Codable {
        /// The version that is sent, and the only one that is read.
        static let version = 1
        /// The version of what follows.
        let version: Int
        /// How many contacts follow.
        let count: Int
    }

    /// The longest line that is read: a contact in which each byte is escaped.
    static let longestLine = 6 * Contact.maximumSize + 65_536
    /// How many bytes are sent at a time.
    static let pieceSize = 65_536

    /// The contacts as they are sent, piece by piece.
    package struct Pieces: Sequence, IteratorProtocol {
        private let encoder = JSONEncoder()
        private var contacts: IndexingIterator<[Contact]>
        private var piece: Data

        /// All that is to be sent for these contacts.
        package init(_ contacts: [Contact]) {
            self.contacts = contacts.makeIterator()
            piece = ContactStream.line(Header(version: Header.version, count: contacts.count), encoder)
        }

        /// What is sent next.
        package mutating func next() -> Data? {
            while piece.count < ContactStream.pieceSize, let contact = contacts.next() {
                piece += ContactStream.line(contact, encoder)
            }
            defer { piece = Data() }
            return piece.isEmpty ? nil : piece
        }
    }

    private static func line(_ value: some Encodable, _ encoder: JSONEncoder) -> Data {
        // Strings and numbers can always be encoded.
        ((try? encoder.encode(value)) ?? Data()) + Data("\n".utf8)
    }
}

/// Reads contacts as they come, whoever sends them.
package struct ContactStreamReader {
    /// Why what comes are not contacts.
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong.
        package let description: String
    }

    /// What has come so far.
    package private(set) var contacts: [Contact] = []
    private var expected: Int?
    private var unread = Data()
    private let maximumSize: Int
    private let latest: Int64
    private var size = 0
    private let decoder = JSONDecoder()

    /// Nothing has come yet, and no more than `maximumSize` bytes may: more contacts than the file may have are not kept either.
    /// None has been changed after `latest`, whatever it says.
    package init(maximumSize: Int = ContactFile.maximumSize, latest: Int64 = Moment.now) {
        self.maximumSize = maximumSize
        self.latest = latest
    }

    /// How much of all has come, from 0 to 1.
    package var progress: Double {
        guard let expected else { return 0 }
        return expected == 0 ? 1 : Double(contacts.count) / Double(expected)
    }

    /// Takes what has come, in pieces of any size.
    package mutating func read(_ piece: Data) throws(Failure) {
        size += piece.count
        guard size <= maximumSize else {
            throw Failure(description: "More than \(maximumSize) bytes of contacts have come.")
        }
        var rest = piece[...]
        while let end = rest.firstIndex(of: 0x0a) {
            unread += rest[..<end]
            rest = rest[rest.index(after: end)...]
            let line = unread
            unread = Data()
            try read(line: line)
        }
        unread += rest
        guard unread.count <= ContactStream.longestLine else {
            throw Failure(description: "A line is longer than \(ContactStream.longestLine) bytes.")
        }
    }

    /// Nothing more comes.
    /// - Returns: all contacts.
    package func finish() throws(Failure) -> [Contact] {
        guard let expected, contacts.count == expected, unread.isEmpty else {
            throw Failure(
                description:
                    "Only \(contacts.count) of \(expected.map(String.init) ?? "all") contacts have come.")
        }
        return contacts
    }

    private mutating func read(line: Data) throws(Failure) {
        guard line.count <= ContactStream.longestLine else {
            throw Failure(description: "A line is longer than \(ContactStream.longestLine) bytes.")
        }
        guard let expected else { return try readHeader(line) }
        guard contacts.count < expected else {
            throw Failure(description: "More contacts have come than the \(expected) that were announced.")
        }
        do {
            contacts.append(try decoder.decode(Contact.self, from: line).changed(atMost: latest))
        } catch {
            throw Failure(description: "Contact \(contacts.count + 1) can't be understood.")
        }
    }

    private mutating func readHeader(_ line: Data) throws(Failure) {
        guard let header = try? decoder.decode(ContactStream.Header.self, from: line) else {
            throw Failure(description: "What has come are not contacts.")
        }
        guard header.version == ContactStream.Header.version else {
            throw Failure(
                description: "The other device has another version of Contacts. Use the same on both.")
        }
        guard (0...ContactList.maximumCount).contains(header.count) else {
            throw Failure(description: "\(header.count) contacts are more than \(ContactList.maximumCount).")
        }
        expected = header.count
    }
}
