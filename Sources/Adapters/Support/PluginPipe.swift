// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
package import MainLoop
internal import Platform

/// What a plugin is asked, one JSON object on a line.
package protocol PluginQuestion: Sendable {
    /// The members of the question, all but its number.
    var members: [String: JSONValue] { get }
}

/// The two pipes to the plugin of an application, which has started this process: lines in both directions.
///
/// What the plugin sends is bounded in size and pace, since it is not to be trusted with either.
@MainLoop
package final class PluginPipe<State: PluginState> {
    /// What comes through it.
    package typealias Message = PluginMessage<State>

    /// Called with what the plugin says of itself.
    package var onMessage: (@MainLoop (Message) -> Void)?
    /// Called once when the application has ended.
    package var onEnd: (@MainLoop () -> Void)?

    private let (input, output) = (STDIN_FILENO, STDOUT_FILENO)
    private var lines = LineBuffer()
    private var reading: DescriptorSource?
    private var writing: DescriptorSource?
    private var pause: LoopSource?
    private var queue: [UInt8] = []
    private var lastNumber: Int64 = 0
    private var asked: [Int64: Awaited<Message?>] = [:]
    private var (hasBegun, hasEnded) = (false, false)

    /// How many bytes are read at a time.
    private let portion = 64 << 10
    /// How long nothing is read after a whole portion was: an application that writes without end gets no more of the processor.
    private let rest = Duration.milliseconds(10)
    /// How many bytes may wait for a plugin that does not read.
    private let maximumQueue = 2 << 20

    /// Standard input and output, which do not block from now on.
    package init() {
        for descriptor in [input, output] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
    }

    /// Begins to read, if it has not begun before.
    /// - Returns: whether it has begun now.
    package func begin() -> Bool {
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
        let bytes = [UInt8](unsafeUninitializedCapacity: portion) { buffer, initialized in
            count = Glibc.read(input, buffer.baseAddress, buffer.count)
            initialized = max(0, count)
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return end() }
        for line in lines.add(bytes) {
            guard let message = Message(line) else { continue }
            if let number = message.answers {
                asked.removeValue(forKey: number)?.come(message)
            } else {
                onMessage?(message)
            }
        }
        guard count == portion, !hasEnded else { return }
        reading = nil
        pause = .timer(after: rest) { [weak self] in self?.listen() }
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
    package func ask(_ question: some PluginQuestion, within time: Duration) async -> Message? {
        lastNumber += 1
        let number = lastNumber
        guard send(Self.line(question, number)) else { return nil }
        let answer = Awaited<Message?>()
        asked[number] = answer
        let message = await answer.value(within: time) ?? nil
        asked[number] = nil
        return message
    }

    /// Has the plugin of `application` open what `question` names, within `time`.
    /// - Throws: `refusal` if it does not, or that it does not answer.
    package func open(
        _ question: some PluginQuestion, in application: String, within time: Duration, refusal: String
    ) async throws {
        switch await ask(question, within: time) {
        case .opened(_, true)?: return
        case nil:
            throw HandoffFailure(
                .applicationTimedOut,
                tr(
                    "{application} does not answer; it may be waiting for you. Look there, and try again.",
                    ["application": application]))
        default: throw HandoffFailure(.applicationFailed, refusal)
        }
    }

    /// Asks the plugin to say what is in front, as it does when that is another. There is no answer but that.
    package func askForFront() {
        lastNumber += 1
        _ = send(Self.line(FrontQuestion(), lastNumber))
    }

    private struct FrontQuestion: PluginQuestion {
        let members: [String: JSONValue] = ["ask": "front"]
    }

    /// `question` under `number`, as a line.
    nonisolated package static func line(_ question: some PluginQuestion, _ number: Int64) -> [UInt8] {
        let members = question.members.merging(["id": .number(Double(number))]) { $1 }
        return JSONValue.object(members).bytes + [UInt8(ascii: "\n")]
    }

    /// Whether `line` will be written.
    private func send(_ line: [UInt8]) -> Bool {
        guard !hasEnded, queue.count + line.count <= maximumQueue else { return false }
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
