// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// A clipboard's content as `FetchClipboard` of `org.example.Handoff.Peer` returns it.
package struct FetchedClipboard: Sendable {
    /// Where its bytes are.
    package enum Bytes: Sendable {
        /// In the answer.
        case here([UInt8])
        /// To be had by `OpenDocument` with this id.
        case document(ContinuationID)
    }

    /// The types with their sizes, the best first.
    package let types: [(type: String, size: UInt64)]
    /// Where the bytes are.
    package let bytes: Bytes

    /// How many bytes there are together.
    package var size: UInt64 { types.reduce(0) { $0 + $1.size } }

    /// How many bytes an answer has at most.
    package static let maximumHere = 256 << 10

    /// What an answer says.
    /// - Throws: `InvalidArgs` naming a key whose value is of another type, or that is missing.
    package init(_ answer: [String: Value]) throws(HandoffFailure) {
        guard let types = try answer.listed("Types", "as", \.strings),
            let sizes = try answer.listed("Sizes", "at", \.numbers), types.count == sizes.count
        else {
            throw HandoffFailure(
                .invalidArguments, "Types or Sizes is missing, or they are not as many. Give both.")
        }
        self.types = zip(types, sizes).map { ($0, $1) }
        try ClipboardContent.check(self.types)
        if let content = try answer.listed(
            "Content", "ay", { if case .bytes(let bytes) = $0 { bytes } else { nil } })
        {
            guard content.count <= Self.maximumHere else {
                throw HandoffFailure(
                    .invalidArguments, "Content has more than \(Self.maximumHere) bytes. Give a Continuation."
                )
            }
            bytes = .here(content)
        } else if let text = try answer.listed("Continuation", "s", \.string) {
            bytes = .document(try ContinuationID(checking: text))
        } else {
            throw HandoffFailure(.invalidArguments, "Content and Continuation are missing. Give one of them.")
        }
    }

    /// The answer with `content`, which names files in these shared `folders` if there are any: its bytes themselves, or the id of a document that
    /// brings them if they are more than ``maximumHere``.
    package static func answer(
        _ content: ClipboardContent, folders: Value? = nil, document: ContinuationID?
    ) throws(HandoffFailure) -> [String: Value] {
        var answer: [String: Value] = [
            "Types": .strings(content.parts.map(\.type)),
            "Sizes": .numbers(content.parts.map { UInt64($0.size) }),
        ]
        answer["SharedFolders"] = folders
        if let document {
            answer["Continuation"] = .string(document.description)
        } else {
            answer["Content"] = .bytes(try content.file.bytes())
        }
        return answer
    }
}

extension ClipboardNews.Announcement {
    /// What `about` says, which is that of `ClipboardChanged`; types that are not known here are passed over.
    /// - Throws: `InvalidArgs` naming a key whose value is of another type, or that breaks a limit.
    package init(_ about: [String: Value]) throws(HandoffFailure) {
        let types = try about.listed("Types", "as", \.strings) ?? []
        guard types.count <= ClipboardContent.maximumTypes,
            types.allSatisfy({ $0.utf8.count <= ClipboardContent.maximumType })
        else {
            throw HandoffFailure(
                .invalidArguments,
                "Types has more than \(ClipboardContent.maximumTypes) types, or one of more than"
                    + " \(ClipboardContent.maximumType) bytes. Give fewer, or shorter ones.")
        }
        let age: Int64 =
            try about.listed("Age", "x") { if case .int64(let age) = $0 { age } else { nil } } ?? 0
        let sent = try about.listed("Sent", "s", \.string).map { (text) throws(HandoffFailure) in
            try ContinuationID(checking: text)
        }
        var kinds: [ClipboardKind] = []
        for kind in types.compactMap({ ClipboardKind(rawValue: $0) }) where !kinds.contains(kind) {
            kinds.append(kind)
        }
        let lot: UInt64 =
            try about.listed("Lot", "t") { if case .uint64(let lot) = $0 { lot } else { nil } } ?? 0
        self.init(kinds: kinds, age: .microseconds(age), sent: sent, lot: lot)
    }

    /// It as `about` of `ClipboardChanged`.
    package var about: [String: Value] {
        var about: [String: Value] = [
            "Types": .strings(kinds.map(\.rawValue)), "Age": .int64(age.wholeMicroseconds),
            "Lot": .uint64(lot),
        ]
        if let sent { about["Sent"] = .string(sent.description) }
        return about
    }
}
