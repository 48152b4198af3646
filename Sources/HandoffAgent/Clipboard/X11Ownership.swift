// SPDX-License-Identifier: LGPL-2.1-or-later

/// Who has the clipboard of a display, and what of that the user of it knows.
struct X11Ownership: Equatable {
    /// Whoever has the clipboard.
    enum Holder: Equatable {
        /// Nobody has it: it is empty.
        case nobody
        /// Another client has it, and had it at this time of the display; 0 stands for now.
        case other(time: UInt32)
        /// We have it.
        case us
    }

    /// How far telling what is in the clipboard is.
    private enum News {
        /// It has to be asked for.
        case due
        /// It is being asked for.
        case asked
        /// It is known.
        case told
    }

    /// Who has it; nil as long as nobody knows.
    private(set) var holder: Holder?
    /// Whether we are taking it, and do not know yet whether we get it.
    private(set) var isTaking = false
    private var news = News.told
    /// Counts what makes an answer outdated.
    private var number = 0

    /// Nothing is known.
    init() {}

    /// Whether what is in it is to be asked for and told.
    var isDue: Bool { news == .due && !isTaking && holder != nil }

    /// The time to read at what was told; nil if there is nothing to read, or if something else is there than what was told.
    var readable: UInt32? {
        guard news == .told, !isTaking, case .other(let time)? = holder else { return nil }
        return time
    }

    /// The display has answered who has it, which counts if it has not told a change before.
    mutating func found(_ holder: Holder) {
        if self.holder == nil { changed(to: holder) }
    }

    /// The display tells that it has a new holder, or that its holder has taken it once more.
    mutating func changed(to holder: Holder) {
        self.holder = holder
        number += 1
        news = holder == .us ? .told : .due
    }

    /// What is in it is asked for now.
    /// - Returns: the number of the question.
    mutating func ask() -> Int {
        news = .asked
        number += 1
        return number
    }

    /// Whether this question is the last one, and open.
    func isAsked(_ question: Int) -> Bool { news == .asked && number == question }

    /// The question is answered.
    /// - Returns: whether the answer is to be told.
    mutating func answered(_ question: Int) -> Bool {
        guard isAsked(question) else { return false }
        news = .told
        return true
    }

    /// We begin to take it. Until it is known whether we get it, nothing is told.
    mutating func take() {
        isTaking = true
        if news == .asked { news = .due }
    }

    /// The display has answered whether we have got it.
    mutating func took(_ isOurs: Bool) {
        isTaking = false
        // Whoever wanted it believes to have it, and has to be told what is there instead.
        if isOurs { changed(to: .us) } else { news = .due }
    }

    /// We give it up, or do not want it any more.
    mutating func giveUp() {
        guard isTaking else { return }
        isTaking = false
        if holder != .us { news = .due }
    }
}
