// SPDX-License-Identifier: LGPL-2.1-or-later

/// How much of what somebody was answered it may not have read.
///
/// A bus takes answers and keeps them until they are read, and stops taking any once it keeps too much: whoever asks and does
/// not read would silence us for all. Nobody tells what was read, but whoever answers a call has read all that came before it.
struct UnreadAnswers {
    /// From so many bytes on it is asked whether it reads.
    private static let doubtful = 1 << 20
    /// With so many bytes it is answered no more.
    static let most = 4 << 20
    /// With so many bytes it is answered no more if all together have left too much unread.
    private static let least = 64 << 10
    /// How many bytes all may leave unread together.
    private static let mostOfAll = 64 << 20

    /// How many bytes may be unread, and how many of them came after the question.
    private(set) var bytes = 0
    private var sinceAsked = 0
    private var isAsked = false
    /// How many bytes were taken to have been read, of somebody who does not answer.
    private(set) var forgiven = 0

    /// Whether it has to read before it is answered, if all together have left so many bytes unread.
    func isTooMuch(ofAll: Int) -> Bool { bytes >= (ofAll > Self.mostOfAll ? Self.least : Self.most) }

    /// Whether it has been told so often enough.
    var isHopeless: Bool { bytes >= 2 * Self.most }

    /// An answer of so many bytes was sent, and all together have left `ofAll` unread.
    /// - Returns: whether it is to be asked now.
    mutating func sent(_ count: Int, ofAll: Int = 0) -> Bool {
        bytes += count
        if isAsked { sinceAsked += count }
        guard !isAsked, bytes >= (ofAll > Self.mostOfAll ? Self.least : Self.doubtful) else { return false }
        (isAsked, sinceAsked) = (true, 0)
        return true
    }

    /// It has answered the question, or has not in time.
    mutating func asked(hasAnswered: Bool) {
        isAsked = false
        if hasAnswered { (bytes, forgiven) = (min(bytes, sinceAsked), 0) }
    }

    /// So many bytes are taken to have been read, for somebody who reads and never answers a call.
    mutating func forgive(_ count: Int) {
        bytes -= count
        forgiven += count
    }

    /// Whether it has been asked, and may still answer.
    var isWaiting: Bool { isAsked }
}

/// How much may be taken to have been read by all who do not say so: a bus keeps what they have not read.
struct Forgiveness {
    /// How many bytes a second.
    private static let pace: Int64 = 256 << 10
    /// How many bytes at a time.
    private static let mostAtATime = 4 << 20
    /// How many bytes in all, of those who are still there.
    private static let mostOfAll = 256 << 20

    private var left = mostAtATime
    private var time: Int64 = 0
    /// How many bytes were forgiven of those who are still there.
    private(set) var given = 0

    /// Takes up to `wanted` bytes, at `now`, in microseconds.
    mutating func take(_ wanted: Int, at now: Int64) -> Int {
        let new = Int(clamping: max(0, now - time) * Self.pace / 1_000_000)
        if new > 0 { (left, time) = (min(Self.mostAtATime, left + new), now) }
        let count = max(0, min(wanted, left, Self.mostOfAll - given))
        left -= count
        given += count
        return count
    }

    /// So many bytes were read after all, or their receiver has left.
    mutating func giveBack(_ count: Int) { given -= count }
}
