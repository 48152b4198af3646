// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

extension DeviceID {
    /// The device that a message names.
    /// - Throws: `InvalidArgs`, with the text, unless it is 64 lower-case hexadecimal digits.
    init(checking text: String) throws(HandoffFailure) {
        guard let id = DeviceID(text) else { throw .malformed(text, "device id", digits: 64) }
        self = id
    }
}

extension ActivityID {
    /// The activity that a message names.
    /// - Throws: `InvalidArgs`, with the text, unless it is 32 lower-case hexadecimal digits.
    init(checking text: String) throws(HandoffFailure) {
        guard let id = ActivityID(text) else { throw .malformed(text, "activity id", digits: 32) }
        self = id
    }
}

extension ContinuationID {
    /// The continuation that a message names.
    /// - Throws: `InvalidArgs`, with the text, unless it is 32 lower-case hexadecimal digits.
    init(checking text: String) throws(HandoffFailure) {
        guard let id = ContinuationID(text) else { throw .malformed(text, "continuation id", digits: 32) }
        self = id
    }
}

extension HandoffFailure {
    fileprivate static func malformed(_ text: String, _ what: String, digits: Int) -> HandoffFailure {
        HandoffFailure(
            .invalidArguments,
            "\"\(PeerText.message(text))\" is not a \(what): it has \(digits) lower-case hexadecimal digits.")
    }
}
