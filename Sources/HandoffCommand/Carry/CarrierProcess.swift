// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import HandoffCore
internal import HandoffSession
internal import MainLoop
internal import Platform

/// One run of a carrier's command, whose standard input and output are a connection. It is asked to end when this process ends,
/// however that comes.
@MainLoop
final class CarrierProcess {
    /// How many bytes of its standard error are read at a time.
    private static let portion = 64 << 10
    /// How many of these are read after its end: more than a pipe holds.
    private static let lastPortions = 3

    private let process: ChildProcess
    private let name: String
    private let errors: Int32
    private var words = LastWords()
    private var source: DescriptorSource?

    /// Starts `command`, which begins with the path of a program.
    /// - Parameter connection: a descriptor, of which it gets two duplicates.
    /// - Throws: if it cannot be started.
    init(_ command: [[UInt8]], _ connection: Int32) throws(CommandFailure) {
        var ends: [Int32] = [-1, -1]
        guard handoff_pipe(&ends, O_CLOEXEC) == 0 else {
            throw CommandFailure(tr("No pipe could be made: {reason}.", ["reason": SystemError.last]))
        }
        let (ours, theirs) = (ends[0], ends[1])
        defer { close(theirs) }
        errors = ours
        name = String(decoding: command.first ?? [], as: UTF8.self)
        do throws(CommandFailure) {
            process = try ChildProcess(
                command, environment: SessionEnvironment.variables,
                ChildProcess.Descriptors(input: connection, output: connection, errors: theirs),
                isBound: true)
        } catch {
            close(ours)
            throw error
        }
        _ = fcntl(ours, F_SETFL, O_NONBLOCK)
        source = DescriptorSource(ours, .readable) { [weak self] _ in _ = self?.read() }
    }

    isolated deinit {
        source?.cancel()
        close(errors)
    }

    /// Waits for its end.
    func isOver() async { _ = await process.status(within: nil) }

    /// Waits until it has written something to the connection whose other end is `end`, or has closed it.
    /// - Returns: whether it has written.
    func hasWritten(to end: Int32) async -> Bool {
        let isReadable = Awaited<Void>()
        let source = DescriptorSource(end, .readable) { _ in isReadable.come(()) }
        _ = await isReadable.value(within: nil)
        source.cancel()
        var byte: UInt8 = 0
        return recv(end, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// Waits for its end, and says how that was.
    func complaint() async -> String {
        let status = await process.status(within: nil)
        for _ in 0..<Self.lastPortions where read() == Self.portion {}
        source?.cancel()
        let told = tr(
            "“{program}” {end}.", ["program": name.shown, "end": ProcessEnd(status ?? 0).text])
        let line = words.text
        return line.isEmpty ? told : told + " " + tr("It says: {words}", ["words": line.shown])
    }

    /// Ends it, with all that it has started: it is asked to end first.
    func end() async { await process.end() }

    /// Reads from its standard error.
    /// - Returns: how many bytes; 0 at the end, negative if there are none now.
    private func read() -> Int {
        var chunk = [UInt8](repeating: 0, count: Self.portion)
        let count = Glibc.read(errors, &chunk, chunk.count)
        if count > 0 {
            _ = words.wrote(chunk[..<count])
        } else if count == 0 || errno != EINTR && errno != EAGAIN {
            // It would be ready for ever.
            source?.cancel()
        }
        return count
    }
}
