// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import MainLoop

/// The two pipes to the plugin of an editor, which has started this process: lines in both directions.
///
/// What the plugin sends is bounded in size and pace, since it is not to be trusted with either.
@MainLoop
final class PluginPipe {
    /// Called with what the plugin says of itself.
    var onMessage: (@MainLoop (PluginMessage) -> Void)?
    /// Called once when the editor has ended.
    var onEnd: (@MainLoop () -> Void)?

    private let input: Int32
    private let output: Int32
    private var lines = LineBuffer()
    private var reading: DescriptorSource?
    private var writing: DescriptorSource?
    private var pause: LoopSource?
    private var queue: [UInt8] = []
    private var lastNumber: Int64 = 0
    private var asked: [Int64: Awaited<PluginMessage?>] = [:]
    private var (hasBegun, hasEnded) = (false, false)

    /// How many bytes are read at a time.
    private static let portion = 64 << 10
    /// How long nothing is read after a whole portion was: an editor that writes without end gets no more of the processor.
    private static let rest = Duration.milliseconds(10)
    /// How many bytes may wait for a plugin that does not read.
    private static let maximumQueue = 2 << 20

    /// The pipes with these descriptors, which stay the caller's and do not block from now on.
    init(input: Int32, output: Int32) {
        (self.input, self.output) = (input, output)
        for descriptor in [input, output] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
    }

    /// Begins to read, if it has not begun before.
    /// - Returns: whether it has begun now.
    func begin() -> Bool {
        guard !hasBegun else { return false }
        hasBegun = true
        listen()
        return true
    }

    private func listen() {
        pause = nil
        reading = DescriptorSource(input, .readable) { [weak self] _ in self?.read() }
    }

    private func read() {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.portion) { buffer, initialized in
            count = Glibc.read(input, buffer.baseAddress, buffer.count)
            initialized = max(0, count)
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return end() }
        for line in lines.add(bytes) {
            guard let message = PluginMessage(line) else { continue }
            switch message {
            case .state(let number, _), .opened(let number, _):
                asked.removeValue(forKey: number)?.come(message)
            default: onMessage?(message)
            }
        }
        guard count == Self.portion, !hasEnded else { return }
        reading = nil
        pause = .timer(after: Self.rest) { [weak self] in self?.listen() }
    }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        (reading, writing, pause) = (nil, nil, nil)
        let all = asked.values
        asked = [:]
        for one in all { one.come(nil) }
        onEnd?()
    }

    /// Asks the plugin, and waits for its answer for at most `time`.
    /// - Returns: nil if there is none by then.
    func ask(_ question: PluginQuestion, within time: Duration) async -> PluginMessage? {
        lastNumber += 1
        let number = lastNumber
        guard send(question.line(number)) else { return nil }
        let answer = Awaited<PluginMessage?>()
        asked[number] = answer
        let message = await answer.value(within: time) ?? nil
        asked[number] = nil
        return message
    }

    /// Asks the plugin for what it says by itself otherwise. There is no answer but that.
    func tell(_ question: PluginQuestion) {
        lastNumber += 1
        _ = send(question.line(lastNumber))
    }

    /// Whether `line` will be written.
    private func send(_ line: [UInt8]) -> Bool {
        guard !hasEnded, queue.count + line.count <= Self.maximumQueue else { return false }
        queue += line
        write()
        return !hasEnded
    }

    private func write() {
        while !queue.isEmpty {
            let count = queue.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count > 0 {
                queue.removeFirst(count)
            } else if errno == EAGAIN {
                if writing == nil {
                    writing = DescriptorSource(output, .writable) { [weak self] _ in self?.write() }
                }
                return
            } else if errno != EINTR {
                return end()
            }
        }
        writing = nil
    }
}
