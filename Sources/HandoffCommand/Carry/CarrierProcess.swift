// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffCore
internal import HandoffSession
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// One run of a carrier's command, whose standard input and output are a connection. It is asked to end when this process ends,
/// however that comes.
@MainLoop
final class CarrierProcess {
    /// How long it may take until something comes over the connection: as long as the bridge waits for one.
    private static let patience = Duration.seconds(10)

    private let process: ChildProcess
    private let name: String
    private let output: ErrorOutput

    /// Starts `command`, which begins with the path of a program.
    /// - Parameter connection: a descriptor, of which it gets two duplicates.
    /// - Throws: if it cannot be started.
    init(_ command: [[UInt8]], _ connection: Int32) throws {
        let pipe = try ErrorPipe.make()
        name = String(decoding: command.first ?? [], as: UTF8.self)
        process = try ChildProcess(
            command, environment: SessionEnvironment.variables,
            ChildProcess.Descriptors(input: connection, output: connection, errors: pipe.theirs.number),
            isBound: true)
        output = ErrorOutput(pipe.ours)
    }

    /// Waits for its end.
    func isOver() async { _ = await process.status(within: nil) }

    /// Waits until it has written something to the connection whose other end is `end`. If nothing comes it is ended.
    /// - Returns: nil if it has written; else why it has not, for people.
    func failure(toWriteTo end: Int32) async -> String? {
        let isReadable = Awaited<Void>()
        let source = DescriptorSource(end, .readable) { _ in isReadable.come(()) }
        let isReady = await isReadable.value(within: Self.patience) != nil
        source.cancel()
        var byte: UInt8 = 0
        if isReady, recv(end, &byte, 1, Int32(MSG_PEEK)) > 0 { return nil }
        // Whatever it still does, it is no connection any more.
        await process.end()
        let status = await process.status(within: nil)
        let told =
            isReady
            ? tr("“{program}” {end}.", ["program": name.shown, "end": ProcessEnd(status ?? 0).text])
            : tr(
                "“{program}” has brought nothing within {count} seconds.",
                ["program": name.shown, "count": "\(Self.patience.components.seconds)"])
        let line = output.lastLine()
        return line.isEmpty ? told : told + " " + tr("It says: {words}", ["words": line.shown])
    }

    /// Ends it, with all that it has started: it is asked to end first.
    func end() async { await process.end() }
}
