// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import MainLoop
internal import Platform

/// One run of a command that the user has given as a text, by `/bin/sh -c`. Nothing from elsewhere is ever part of the text:
/// it comes by standard input and in the environment.
@MainLoop
final class ShellCommand {
    /// What came of it.
    struct Outcome {
        /// How it has ended; nil if it took too long, or wrote too much.
        let end: ProcessEnd?
        /// What it has written to its standard output, if that was asked for.
        let output: [UInt8]
        /// The last line that it has written to its standard error, if that was asked for; empty if there is none.
        let complaint: String
        /// Whether it has written more than it may.
        let isTooMuch: Bool
    }

    /// What of its outputs this command takes.
    enum Taken {
        /// Standard output, up to so many bytes.
        case output(limit: Int)
        /// The end of standard error, all of which is passed on.
        case complaints
    }

    /// How much of what it complains of is kept.
    private static let keptComplaints = 4096

    private let process: ChildProcess
    private let taken: Taken
    private let pipe: Int32
    private var bytes: [UInt8] = []
    private var isTooMuch = false
    private var source: DescriptorSource?

    /// Starts it.
    /// - Parameters:
    ///   - variables: what its environment has besides that of this process.
    ///   - input: what it finds on its standard input; nil for nothing.
    /// - Throws: if it cannot be started.
    init(
        _ text: String, _ variables: [String: String], input: [UInt8]? = nil, taking taken: Taken
    ) throws(CommandFailure) {
        self.taken = taken
        let outputs = try Self.makePipe()
        let inputs: (reading: Int32, writing: Int32)?
        do throws(CommandFailure) { inputs = input == nil ? nil : try Self.makePipe() } catch {
            close(outputs.reading)
            close(outputs.writing)
            throw error
        }
        var descriptors = ChildProcess.Descriptors(input: inputs?.reading)
        if case .output = taken {
            descriptors.output = outputs.writing
        } else {
            descriptors.errors = outputs.writing
        }
        defer {
            close(outputs.writing)
            if let inputs { close(inputs.reading) }
        }
        pipe = outputs.reading
        do throws(CommandFailure) {
            process = try ChildProcess(
                ["/bin/sh", "-c", text].map { Array($0.utf8) },
                environment: Variables.all.merging(variables) { _, new in new }, descriptors)
        } catch {
            close(outputs.reading)
            if let inputs { close(inputs.writing) }
            throw error
        }
        if let inputs, let input { Self.write(input, to: inputs.writing) }
        _ = fcntl(pipe, F_SETFL, O_NONBLOCK)
        source = DescriptorSource(pipe, .readable) { [weak self] _ in self?.take() }
    }

    isolated deinit {
        source?.cancel()
        close(pipe)
    }

    /// Waits for its end, and ends it if that does not come within `time`; nil for however long that takes.
    func outcome(within time: Duration?) async -> Outcome {
        let status = await process.status(within: time)
        if status == nil { process.signal(SIGKILL) }
        // What else holds the pipe is not waited for.
        take()
        source?.cancel()
        return Outcome(
            end: isTooMuch ? nil : status.map { ProcessEnd($0) }, output: bytes, complaint: complaint,
            isTooMuch: isTooMuch)
    }

    /// Ends it, with all that it has started.
    func end() async { await process.end() }

    private var complaint: String {
        guard case .complaints = taken else { return "" }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        return lines.last.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    // MARK: Pipes

    private static func makePipe() throws(CommandFailure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard handoff_pipe(&ends, O_CLOEXEC) == 0 else {
            throw CommandFailure(tr("No pipe could be made: {reason}.", ["reason": SystemError.last]))
        }
        return (ends[0], ends[1])
    }

    /// Writes all of it and closes the pipe, on a thread where the signal of a pipe that nobody reads does not arrive.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        do throws(GLibError) {
            try BackgroundThread.start("input") {
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                    if count < 0, errno != EINTR { break }
                    rest = rest.dropFirst(max(0, count))
                }
                close(descriptor)
            }
        } catch {
            close(descriptor)
        }
    }

    /// Writes to our standard error what the command has written to its own.
    private func passOn(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { return }
            rest = rest.dropFirst(max(0, count))
        }
    }

    private func take() {
        var chunk = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = read(pipe, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            // At its end, it would be ready for ever.
            if count == 0 { source?.cancel() }
            guard count > 0 else { return }
            bytes += chunk[..<count]
            switch taken {
            case .output(let limit):
                guard bytes.count > limit else { continue }
                (isTooMuch, bytes) = (true, [])
                source?.cancel()
                return process.signal(SIGKILL)
            case .complaints:
                passOn(chunk[..<count])
                if bytes.count > Self.keptComplaints { bytes.removeFirst(bytes.count - Self.keptComplaints) }
            }
            // Who writes without end does not keep the rest of this process from its turn.
            if count < chunk.count { return }
        }
    }
}
