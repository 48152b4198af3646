// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// A person or company in the address book.
package struct Contact: Hashable, Sendable, Identifiable {
    /// The same on all devices: 32 hexadecimal digits.
    package let id: String
    /// When it was last changed, in microseconds since the Unix epoch.
    package var modified: Int64
    /// What is known, under the names of the fields. What a newer version has added stays.
    package private(set) var values: [String: String] = [:]

    /// A contact about which nothing is known yet.
    package init(id: String = Contact.newID(), modified: Int64 = 0) {
        self.id = id
        self.modified = modified
    }

    /// The value of a field, empty if it is not known.
    package subscript(field: Field) -> String {
        get { values[field.rawValue] ?? "" }
        set { values[field.rawValue] = newValue.isEmpty ? nil : newValue }
    }

    /// The contact, with a time that is not after `moment`. Nobody can have changed it later than now, and what says so
    /// would be taken for newer than all that people will change until then.
    package func changed(atMost moment: Int64) -> Contact {
        var contact = self
        contact.modified = min(modified, moment)
        return contact
    }

    /// What it is called: by the first of its fields that says something.
    package var displayName: String {
        for field in Field.allCases where field != .note {
            let words = self[field].split(whereSeparator: \.isWhitespace)
            if !words.isEmpty { return words.joined(separator: " ") }
        }
        return tr("No Name")
    }

    /// What tells two of the same name apart: the first field after the one that it is called by.
    package var detail: String {
        [.company, .email, .phone].map { self[$0] }.first { !$0.isEmpty && $0 != displayName } ?? ""
    }

    /// An id that no other contact has.
    package static func newID() -> String {
        var generator = UnpredictableNumbers()
        return (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// The form in files, in streams and in activities. Reading checks all of it, since others have written it.
extension Contact: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, modified, values
    }

    /// The most entries that a contact may have, those of newer versions included.
    static let maximumEntries = 64
    /// The most bytes that its values may take together.
    package static let maximumSize = 96 * 1_024

    /// Reads a contact.
    /// - Throws: `DecodingError`, saying why it is none, or which limit it exceeds.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        modified = try container.decode(Int64.self, forKey: .modified)
        let hexadecimal = Set("0123456789abcdef")
        guard id.count == 32, id.allSatisfy(hexadecimal.contains) else {
            throw Self.refusal(container, "the id “\(id.prefix(64))” is not 32 hexadecimal digits")
        }
        let read = try container.decode([String: String].self, forKey: .values)
        guard read.count <= Self.maximumEntries else {
            throw Self.refusal(container, "it has \(read.count) fields, more than \(Self.maximumEntries)")
        }
        for (key, value) in read {
            let field = Field(rawValue: key)
            let limit = field?.maximumSize ?? Field.note.maximumSize
            guard value.utf8.count <= limit, key.utf8.count <= 64 else {
                throw Self.refusal(container, "“\(key.prefix(64))” is longer than \(limit) bytes")
            }
            values[key] = Text.withoutControls(value, keepsLines: field?.hasLines ?? true)
        }
        guard values.values.reduce(0, { $0 + $1.utf8.count }) <= Self.maximumSize else {
            throw Self.refusal(container, "it is longer than \(Self.maximumSize) bytes")
        }
    }

    private static func refusal(
        _ container: KeyedDecodingContainer<CodingKeys>, _ reason: String
    ) -> DecodingError {
        .dataCorrupted(.init(codingPath: container.codingPath, debugDescription: reason))
    }
}
