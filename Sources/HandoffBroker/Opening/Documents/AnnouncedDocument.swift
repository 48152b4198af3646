// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// What a peer says about a document before its bytes come. None of it is trusted.
struct AnnouncedDocument: Equatable, Sendable {
    /// What it is to be called here.
    let name: DocumentName
    /// How many bytes it has; nil if the peer does not know.
    let size: UInt64?
    /// When it was modified, in microseconds since the Unix epoch; nil if the peer does not say.
    let modified: Int64?

    /// - Throws: `InvalidArgs` if something has a wrong type; the message names it.
    init(_ about: [String: Value]) throws(HandoffFailure) {
        name = DocumentName(
            try about["Name"].map { (value) throws(HandoffFailure) in
                guard case .string(let text) = value else { throw Self.wrong("Name", "a string") }
                return text
            } ?? "")
        size = try about["Size"].map { (value) throws(HandoffFailure) in
            guard case .uint64(let size) = value else {
                throw Self.wrong("Size", "an unsigned 64-bit number")
            }
            return size
        }
        modified = try about["Modified"].map { (value) throws(HandoffFailure) in
            guard case .int64(let time) = value else { throw Self.wrong("Modified", "a 64-bit number") }
            return time
        }
    }

    private static func wrong(_ key: String, _ type: String) -> HandoffFailure {
        HandoffFailure(
            .invalidArguments,
            "The other device described its document wrongly: \(key) is not \(type). Install the same version of"
                + " Handoff on both devices, then try again.")
    }
}
