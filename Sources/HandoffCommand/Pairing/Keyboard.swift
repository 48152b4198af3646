// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import MainLoop

/// What the user types: lines of standard input, read only when they are asked for.
@MainLoop
final class Keyboard {
    /// The longest line that is considered; anything longer cannot be an answer.
    private static let longest = 256

    private let body: @MainLoop (String?) -> Void
    private var source: DescriptorSource?
    private var typed: [UInt8] = []

    /// Calls `body` with each line that was asked for, and with nil at the end of the input.
    init(_ body: @escaping @MainLoop (String?) -> Void) { self.body = body }

    /// Asks for one more line; nothing changes while one is being read.
    func readLine() {
        guard source == nil else { return }
        source = DescriptorSource(STDIN_FILENO, .readable) { [weak self] _ in self?.read() }
    }

    /// Reads to the end of a line, or of the input.
    private func read() {
        var buffer = [UInt8](repeating: 0, count: Self.longest)
        let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        if count > 0 { typed += buffer[..<count] }
        let isWhole = typed.contains(UInt8(ascii: "\n")) || typed.count > Self.longest
        guard count <= 0 || isWhole else { return }
        source?.cancel()
        source = nil
        let line = typed.isEmpty ? nil : String(decoding: typed.prefix { $0 != 10 }, as: UTF8.self)
        typed = []
        body(line)
    }
}
