// SPDX-License-Identifier: LGPL-2.1-or-later

/// What an identifier of 128 random bits is the identifier of.
package protocol Identified: Sendable {
    /// What such a thing is called in messages to people.
    static var noun: String { get }
}

/// 128 random bits, never reused, written as 32 lower-case hexadecimal digits.
package struct RandomID<Thing: Identified>: Hashable, Sendable, LosslessStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// The identifier written as `description`; nil unless it is exactly 32 lower-case hexadecimal digits.
    package init?(_ description: String) {
        guard let words = Hexadecimal.words(2, from: description) else { return nil }
        (high, low) = (words[0], words[1])
    }

    /// The identifier written as `text`, which somebody sent. Throws `invalidArguments`, with that text in
    /// its message, if it is not valid.
    package init(checking text: String) throws(HandoffFailure) {
        guard let id = RandomID(text) else { throw .malformedID(text, Thing.noun, digits: 32) }
        self = id
    }

    /// The identifier made of 16 random bytes; nil if there are more or fewer.
    package init?(bytes: some Collection<UInt8>) {
        guard let words = Hexadecimal.words(2, from: bytes) else { return nil }
        (high, low) = (words[0], words[1])
    }

    /// A new identifier of 128 bits from `generator`, which must be cryptographically strong.
    package init(using generator: inout some RandomNumberGenerator) {
        high = generator.next()
        low = generator.next()
    }

    /// 32 lower-case hexadecimal digits.
    package var description: String {
        Hexadecimal.digits(of: [high, low])
    }
}

/// An activity.
package typealias ActivityID = RandomID<ActivityNoun>
/// One act of continuing.
package typealias ContinuationID = RandomID<ContinuationNoun>

/// A document that goes from device to device, wherever each of them keeps it.
package typealias DocumentID = RandomID<DocumentNoun>

/// See ``ActivityID``.
package enum ActivityNoun: Identified {
    /// As in "activity id".
    package static let noun = "activity"
}

/// See ``ContinuationID``.
package enum ContinuationNoun: Identified {
    /// As in "continuation id".
    package static let noun = "continuation"
}

/// See ``DocumentID``.
package enum DocumentNoun: Identified {
    /// As in "document id".
    package static let noun = "document"
}
