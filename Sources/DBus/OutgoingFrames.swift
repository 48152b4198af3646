// SPDX-License-Identifier: LGPL-2.1-or-later

/// Messages that wait to leave by an ``AttachedSocket``, in order.
struct OutgoingFrames {
    /// A message, or what is left of it.
    struct Frame {
        var bytes: ArraySlice<UInt8>
        /// Kept for the descriptor that goes with the first byte; nil once that has gone, or if there is none.
        var carrier: Message?
        /// Whether it answers a call.
        let isAnswer: Bool
    }

    /// How many bytes wait.
    private(set) var bytes = 0
    /// How many of them belong to answers.
    private(set) var answerBytes = 0
    /// How many messages wait.
    var count: Int { frames.count - head }
    /// The one that leaves next.
    var first: Frame? { head < frames.count ? frames[head] : nil }

    private var frames: [Frame] = []
    /// Where what waits begins in that.
    private var head = 0

    mutating func add(_ message: Message, as bytes: [UInt8]) {
        let isAnswer = message.kind == .reply || message.kind == .error
        let carrier = message.containsFileDescriptors ? message : nil
        frames.append(Frame(bytes: bytes[...], carrier: carrier, isAnswer: isAnswer))
        count(bytes.count, isAnswer)
    }

    /// So many bytes of the first one have left.
    mutating func sent(_ count: Int) {
        guard let first else { return }
        self.count(-count, first.isAnswer)
        (frames[head].bytes, frames[head].carrier) = (first.bytes.dropFirst(count), nil)
        guard frames[head].bytes.isEmpty else { return }
        frames[head].bytes = []
        head += 1
        if head == frames.count || head >= 1024 && head > frames.count / 2 {
            frames.removeFirst(head)
            head = 0
        }
    }

    private mutating func count(_ change: Int, _ isAnswer: Bool) {
        bytes += change
        if isAnswer { answerBytes += change }
    }
}
