// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import Glibc
internal import MainLoop
internal import Platform

/// The messages that the browser's add-on and this process exchange, on standard input and output.
@MainLoop
final class NativePort {
    /// Called with each message.
    var onMessage: (@MainLoop (JSONValue) -> Void)?
    /// Called once when nothing more comes; with a reason if it is not the browser that has ended it.
    var onEnd: (@MainLoop (String?) -> Void)?

    /// How many bytes may wait for a browser that does not read.
    private static let maximumWaiting = 4 << 20
    private static let chunk = 65536

    private var frames = NativeFrames()
    private var waiting: [UInt8] = []
    private var reading: DescriptorSource?
    private var writing: DescriptorSource?
    private let output: Int32

    /// A port on the standard input and output that the browser gave this process. What else would write there goes to
    /// standard error from now on.
    init() {
        let own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        output = own < 0 ? STDOUT_FILENO : own
        if own >= 0 { dup2(STDERR_FILENO, STDOUT_FILENO) }
        _ = fcntl(output, F_SETFL, fcntl(output, F_GETFL) | O_NONBLOCK)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Begins to read.
    func begin() {
        reading = DescriptorSource(STDIN_FILENO, .readable) { [weak self] _ in self?.read() }
    }

    private func end(_ reason: String?) {
        guard reading != nil else { return }
        (reading, writing, waiting) = (nil, nil, [])
        onEnd?(reason)
    }

    // MARK: Reading

    private func read() {
        let buffer = [UInt8](unsafeUninitializedCapacity: Self.chunk) { bytes, count in
            count = max(0, Glibc.read(STDIN_FILENO, bytes.baseAddress, Self.chunk))
        }
        if buffer.isEmpty { return end(nil) }
        do {
            for message in try frames.received(buffer) where reading != nil {
                onMessage?(try JSONValue.read(message))
            }
        } catch {
            end("\(error)")
        }
    }

    // MARK: Writing

    /// Sends `message`.
    func send(_ message: JSONValue) {
        let body = message.bytes
        guard reading != nil, body.count <= NativeFrames.maximumLength else { return }
        waiting += NativeFrames.framed(body)
        guard waiting.count <= Self.maximumWaiting else {
            return end("the browser does not read what it is told.")
        }
        write()
    }

    private func write() {
        while !waiting.isEmpty {
            let count = waiting.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count > 0 {
                waiting.removeFirst(count)
            } else if errno == EAGAIN {
                if writing == nil {
                    writing = DescriptorSource(output, .writable) { [weak self] _ in self?.write() }
                }
                return
            } else if errno != EINTR {
                return end(nil)
            }
        }
        writing = nil
    }
}
