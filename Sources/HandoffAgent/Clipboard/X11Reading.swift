// SPDX-License-Identifier: LGPL-2.1-or-later

/// A part of a property, as the display gives it.
struct X11Property: Equatable, Sendable {
    /// Its type; 0 if there is no such property.
    var type: UInt32
    /// How many bits each of its numbers has: 8, 16 or 32.
    var format: Int
    /// The bytes of the part.
    var bytes: [UInt8]
    /// How many bytes come after the part.
    var rest: Int
}

/// How far the reading of a selection is (ICCCM, "Use of Selection Properties"). The owner may do anything.
struct X11Reading {
    /// What is to be done next.
    enum Action: Equatable {
        /// The property is asked for, from this byte on.
        case fetch(at: Int)
        /// These bytes come next.
        case keep([UInt8])
        /// The property is deleted, and with that the owner is told to go on.
        case delete
        /// Everything was read.
        case finish
        /// It ends without success.
        case fail(Failure)
    }

    /// Why it has failed.
    enum Failure {
        /// The owner does not give it as this type.
        case refused
        /// The owner does not keep to the rules.
        case broken
        /// There is more than there may be.
        case tooLarge
    }

    private enum State {
        /// The owner has not answered.
        case asked
        /// The property is read, from this byte on; `isPiece` if it is one of several pieces.
        case fetching(offset: Int, isPiece: Bool)
        /// The owner is to write the next piece.
        case waiting
        /// It has succeeded or failed.
        case ended
    }

    private let incremental: UInt32
    private let format: Int
    private let maximum: Int
    private var state = State.asked
    private var type: UInt32?
    private var count = 0

    /// A reading that the owner was asked for.
    /// - Parameters:
    ///   - incremental: the atom `INCR`.
    ///   - format: the format that the content has to have.
    ///   - maximum: how many bytes are read at most.
    init(incremental: UInt32, format: Int, maximum: Int) {
        (self.incremental, self.format, self.maximum) = (incremental, format, maximum)
    }

    /// The owner has answered; `isGiven` if it has written the property, or begins to.
    mutating func answered(isGiven: Bool) -> [Action] {
        guard case .asked = state else { return [] }
        return isGiven ? fetch(0, isPiece: false) : fail(.refused)
    }

    /// The property was written.
    mutating func written() -> [Action] {
        guard case .waiting = state else { return [] }
        return fetch(0, isPiece: true)
    }

    /// What was fetched has come; nil if that has failed.
    mutating func came(_ part: X11Property?) -> [Action] {
        guard case .fetching(let offset, let isPiece) = state else { return [] }
        guard let part else { return fail(.broken) }
        if offset == 0, let actions = begun(part, isPiece: isPiece) { return actions }
        guard part.format == format, part.type != incremental, part.type == type ?? part.type else {
            return fail(.broken)
        }
        type = part.type
        guard part.rest <= maximum - count - part.bytes.count else {
            // The display need not keep it any longer. The owner of pieces would only write the next one.
            return (isPiece ? [] : [.delete]) + fail(.tooLarge)
        }
        count += part.bytes.count
        let kept: [Action] = part.bytes.isEmpty ? [] : [.keep(part.bytes)]
        if part.rest > 0 {
            // Only at whole words of four bytes can a property be read on.
            guard !part.bytes.isEmpty, part.bytes.count % 4 == 0 else { return kept + fail(.broken) }
            return kept + fetch(offset + part.bytes.count, isPiece: isPiece)
        }
        state = isPiece ? .waiting : .ended
        return kept + (isPiece ? [.delete] : [.delete, .finish])
    }

    /// What follows from the beginning of a property; nil if it holds content.
    private mutating func begun(_ part: X11Property, isPiece: Bool) -> [Action]? {
        if part.type == 0 {
            guard isPiece else { return fail(.broken) }
            state = .waiting
            return []
        }
        if isPiece {
            // A piece of no bytes is the end, whatever its type.
            guard part.bytes.isEmpty, part.rest == 0 else { return nil }
            state = .ended
            return [.delete, .finish]
        }
        guard part.type == incremental else { return nil }
        // The number is how many bytes there are at least.
        if part.format == 32, part.bytes.count >= 4,
            part.bytes.withUnsafeBytes({ $0.loadUnaligned(as: UInt32.self) }) > maximum
        {
            return fail(.tooLarge)
        }
        state = .waiting
        return [.delete]
    }

    private mutating func fetch(_ offset: Int, isPiece: Bool) -> [Action] {
        state = .fetching(offset: offset, isPiece: isPiece)
        return [.fetch(at: offset)]
    }

    private mutating func fail(_ failure: Failure) -> [Action] {
        state = .ended
        return [.fail(failure)]
    }
}
