// SPDX-License-Identifier: LGPL-2.1-or-later
package import FoundationEssentials
internal import Platform

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
            throw Failure(
                description: tr(
                    "More than {size} bytes of contacts have arrived.", ["size": "\(maximumSize)"]))
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
            throw Self.lineTooLong
        }
    }

    /// Nothing more comes.
    /// - Returns: all contacts.
    package func finish() throws(Failure) -> [Contact] {
        guard let expected else { throw Failure(description: tr("No contacts have arrived.")) }
        guard contacts.count == expected, unread.isEmpty else {
            throw Failure(
                description: tr(
                    "Only {count} of {expected} contacts have arrived.",
                    ["count": "\(contacts.count)", "expected": "\(expected)"]))
        }
        return contacts
    }

    private static var lineTooLong: Failure {
        Failure(
            description: tr(
                "A line is longer than {size} bytes.", ["size": "\(ContactStream.longestLine)"]))
    }

    private mutating func read(line: Data) throws(Failure) {
        guard line.count <= ContactStream.longestLine else {
            throw Self.lineTooLong
        }
        guard let expected else { return try readHeader(line) }
        guard contacts.count < expected else {
            throw Failure(
                description: tr(
                    "More contacts have arrived than the {count} that were announced.",
                    ["count": "\(expected)"]))
        }
        do {
            contacts.append(try decoder.decode(Contact.self, from: line).changed(atMost: latest))
        } catch {
            throw Failure(
                description: tr(
                    "Contact {number} can't be understood.", ["number": "\(contacts.count + 1)"]))
        }
    }

    private mutating func readHeader(_ line: Data) throws(Failure) {
        guard let header = try? decoder.decode(ContactStream.Header.self, from: line) else {
            throw Failure(description: tr("The data that has arrived is not contacts."))
        }
        guard header.version == ContactStream.Header.version else {
            throw Failure(
                description: tr(
                    "The other device has another version of Contacts. Use the same on both."))
        }
        guard (0...ContactList.maximumCount).contains(header.count) else {
            throw Failure(
                description: tr(
                    "{count} contacts are more than {maximum}.",
                    ["count": "\(header.count)", "maximum": "\(ContactList.maximumCount)"]))
        }
        expected = header.count
    }
}
