// SPDX-License-Identifier: LGPL-2.1-or-later

/// How much of what somebody was answered it may not have read.
///
/// A bus takes answers and keeps them until they are read, and stops taking any once it keeps too much: whoever asks and does
/// not read would silence us for all. Nobody tells what was read, but whoever answers a call has read all that came before it.
struct UnreadAnswers {
    /// From so many bytes on it is asked whether it reads.
    private static let doubtful = 1 << 20
    /// With so many bytes it is answered no more.
    private static let most = 4 << 20
    /// With so many bytes it is answered no more if all together have left too much unread.
    private static let least = 64 << 10
    /// How many bytes all may leave unread together.
    private static let mostOfAll = 64 << 20
    /// How many bytes a second are taken to have been read by somebody who never answers a call.
    private static let pace: Int64 = 256 << 10

    /// How many bytes may be unread, and how many of them came after the question.
    private(set) var bytes = 0
    private var sinceAsked = 0
    private var isAsked = false
    private var time: Int64 = 0

    /// Whether it has to read before it is answered, at `now`, in microseconds, if all together have left so many bytes unread.
    mutating func isTooMuch(at now: Int64, ofAll: Int) -> Bool {
        pass(to: now)
        return bytes >= (ofAll > Self.mostOfAll ? Self.least : Self.most)
    }

    private mutating func pass(to now: Int64) {
        let read = Int(clamping: max(0, now - time) * Self.pace / 1_000_000)
        if read > 0 || bytes == 0 { (bytes, time) = (max(0, bytes - read), now) }
    }

    /// An answer of so many bytes was sent, at `now`, in microseconds.
    /// - Returns: whether it is to be asked now.
    mutating func sent(_ count: Int, at now: Int64) -> Bool {
        pass(to: now)
        bytes += count
        if isAsked { sinceAsked += count }
        guard !isAsked, bytes >= Self.doubtful else { return false }
        (isAsked, sinceAsked) = (true, 0)
        return true
    }

    /// It has answered the question, or has not in time.
    mutating func asked(hasAnswered: Bool) {
        isAsked = false
        if hasAnswered { bytes = min(bytes, sinceAsked) }
    }

    /// Whether it has been asked, and may still answer.
    var isWaiting: Bool { isAsked }
}
