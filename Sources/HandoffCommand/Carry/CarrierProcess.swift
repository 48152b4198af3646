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
    /// How long it may take until something comes over the connection: nearly as long as the bridge waits for one.
    private static let patience = Duration.seconds(9)

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

    /// Waits until it has brought the greeting of another device to the connection whose other end is `end`. If none comes it is
    /// ended.
    /// - Returns: nil if it has; else why not, for people.
    func failure(toConnect end: Int32) async -> String? {
        let isReadable = Awaited<Void>()
        let source = DescriptorSource(end, .readable) { _ in isReadable.come(()) }
        let isReady = await isReadable.value(within: Self.patience) != nil
        source.cancel()
        var first = [UInt8](repeating: 0, count: Greeting.magic.count)
        let count = isReady ? recv(end, &first, first.count, Int32(MSG_PEEK)) : -1
        if count > 0, Greeting.magic.starts(with: first[..<count]) { return nil }
        // Whatever it still does, it is no connection.
        let ending = MainLoop.start { [process] in await process.end() }
        var told: String
        if !isReady {
            told = tr(
                "“{program}” has brought nothing within {count} seconds.",
                ["program": name.shown, "count": "\(Self.patience.components.seconds)"])
        } else if count > 0 {
            told = tr(
                "“{program}” has brought “{text}…” instead of a greeting of Handoff.",
                ["program": name.shown, "text": String(decoding: first[..<count], as: UTF8.self).shown])
        } else {
            await ending.value
            let status = await process.status(within: nil) ?? 0
            told = tr("“{program}” {end}.", ["program": name.shown, "end": ProcessEnd(status).text])
        }
        let line = output.lastLine()
        if !line.isEmpty { told += " " + tr("It says: {words}", ["words": line.shown]) }
        return told
    }

    /// Ends it, with all that it has started: it is asked to end first.
    func end() async { await process.end() }
}
