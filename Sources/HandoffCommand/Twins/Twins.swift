// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import MainLoop
internal import Platform

/// Two machines, as the command that has them made sees them: they are kept by another process, which ends them when this one
/// has ended, however that comes.
@MainLoop
final class Twins {
    /// How long it may take to end all that belongs to them.
    private static let patience = Duration.seconds(60)

    /// Comes when they have ended by themselves.
    let hasEnded = Awaited<Void>()
    private let keeper: ChildProcess
    /// As long as this is open, they are kept.
    private var hold: Int32
    private let output: Int32
    private var text: [UInt8] = []
    private var source: DescriptorSource?
    private let isReady = Awaited<Bool>()

    /// Has them made.
    init() throws(CommandFailure) {
        var (inputs, outputs): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard handoff_pipe(&inputs, O_CLOEXEC) == 0, handoff_pipe(&outputs, O_CLOEXEC) == 0,
            let own = OwnProgram.folder
        else { throw CommandFailure(tr("No pipe could be made: {reason}.", ["reason": SystemError.last])) }
        (hold, output) = (inputs[1], outputs[0])
        defer {
            close(inputs[0])
            close(outputs[1])
        }
        // Twins in twins are kept by somebody who is not swept away with the outer ones.
        let environment = Variables.all.filter { $0.key != Twin.mark }
        keeper = try ChildProcess(
            ["\(own)/handoff", TwinsKeeperVerb.name].map { Array($0.utf8) }, environment: environment,
            ChildProcess.Descriptors(input: inputs[0], output: outputs[1]))
        source = DescriptorSource(output, .readable) { [weak self] _ in self?.read() }
        let (keeper, isReady, hasEnded) = (keeper, isReady, hasEnded)
        MainLoop.start {
            _ = await keeper.status(within: nil)
            isReady.come(false)
            hasEnded.come(())
        }
    }

    isolated deinit {
        source?.cancel()
        close(output)
        if hold >= 0 { close(hold) }
    }

    private var lines: [String] {
        text.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    private func read() {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(output, &chunk, chunk.count)
        guard count > 0 else {
            source?.cancel()
            return
        }
        text += chunk[..<count]
        if lines.last == TwinsKeeperVerb.ready, text.last == UInt8(ascii: "\n") { isReady.come(true) }
    }

    /// Waits until they are there.
    /// - Returns: their folder; nil if the user has interrupted that.
    /// - Throws: if they cannot be made; the reason was told.
    func folder(_ interruption: Awaited<Void>) async throws -> String? {
        MainLoop.start { [isReady] in
            _ = await interruption.value(within: nil)
            isReady.come(false)
        }
        let isReady = await isReady.value(within: nil) == true
        if interruption.value != nil { return nil }
        guard isReady, let folder = lines.first else {
            throw CommandFailure(tr("The two machines could not be made."))
        }
        return folder
    }

    /// Ends them, and waits until nothing of them is left.
    func end() async {
        if hold >= 0 { close(hold) }
        hold = -1
        if await keeper.status(within: Self.patience) == nil { await keeper.end() }
        // Who was killed has left all of it behind.
        if let folder = lines.first, TwinsFolder.isOurs(folder) { await TwinsFolder.remove(folder) }
    }
}
