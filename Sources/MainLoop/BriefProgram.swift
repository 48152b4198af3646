// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
package import Platform

/// One run of a program that prints little and ends soon, or is ended.
@MainLoop
package final class BriefProgram {
    /// What came of it.
    package struct Outcome: Sendable {
        /// The exit status; nil if a signal has ended it, by whoever that was sent.
        package let status: Int32?
        /// What it has written to its standard output.
        package let output: [UInt8]
        /// What it has written to its standard error.
        package let complaints: [UInt8]
    }

    private let command: [String]
    private let environment: [String]
    private let maximumSize: Int
    private var process: GPid = 0
    private var pipes: [Pipe] = []

    /// One of its outputs.
    private final class Pipe {
        let descriptor: Int32
        var bytes: [UInt8] = []
        var source: DescriptorSource?

        init(_ descriptor: Int32) { self.descriptor = descriptor }
    }

    /// How long to wait for the end of a program that was killed.
    private static let grace = Duration.seconds(5)

    /// A run of the program at the path that begins `command`, with the arguments that follow it.
    /// - Parameters:
    ///   - environment: its whole environment, each as `NAME=VALUE`.
    ///   - maximumSize: how many bytes it may write to either output; more end it.
    package init(_ command: [String], environment: [String], maximumSize: Int) {
        (self.command, self.environment, self.maximumSize) = (command, environment, maximumSize)
    }

    /// Runs it, once. Its standard input is empty, and it begins in the root folder. It is killed if it takes longer than
    /// `time`.
    /// - Throws: if it cannot be started.
    package func run(within time: Duration) async throws(GLibError) -> Outcome {
        let outputs = try spawn()
        pipes = outputs.map { Pipe($0) }
        for pipe in pipes {
            _ = fcntl(pipe.descriptor, F_SETFL, O_NONBLOCK)
            pipe.source = DescriptorSource(pipe.descriptor, .readable) { [weak self, weak pipe] _ in
                if let pipe { self?.read(pipe) }
            }
        }
        let handle = ProcessHandle(UInt32(process))
        if await !handle.end(within: time) {
            kill()
            _ = await handle.end(within: Self.grace)
        }
        // What else holds its outputs is not waited for.
        for pipe in pipes {
            read(pipe)
            pipe.source?.cancel()
            close(pipe.descriptor)
        }
        return Outcome(status: reap(), output: pipes[0].bytes, complaints: pipes[1].bytes)
    }

    /// Ends it at once, if it runs.
    package func kill() {
        if process > 0 { _ = Glibc.kill(process, SIGKILL) }
    }

    /// Starts the program from this thread, the main one: a program that is to end with its parent ends with the thread
    /// that has started it (prctl(2), `PR_SET_PDEATHSIG`).
    private func spawn() throws(GLibError) -> [Int32] {
        var (output, complaints): (Int32, Int32) = (-1, -1)
        let flags = GSpawnFlags(
            rawValue: G_SPAWN_DO_NOT_REAP_CHILD.rawValue | G_SPAWN_CLOEXEC_PIPES.rawValue)
        let texts = (command + environment).map { strdup($0) }
        defer { for text in texts { free(text) } }
        let arguments = texts.prefix(command.count).map { UnsafePointer($0) } + [nil]
        let variables = texts.dropFirst(command.count).map { UnsafePointer($0) } + [nil]
        _ = try throwingGError { error in
            g_spawn_async_with_pipes_and_fds(
                "/", arguments, variables, flags, nil, nil, -1, -1, -1, nil, nil, 0, &process, nil, &output,
                &complaints, error)
        }
        return [output, complaints]
    }

    private func read(_ pipe: Pipe) {
        var chunk = [UInt8](repeating: 0, count: 4096)
        while pipe.bytes.count <= maximumSize {
            let count = Glibc.read(pipe.descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            // At its end, it would be ready for ever.
            if count == 0 { pipe.source?.cancel() }
            guard count > 0 else { return }
            pipe.bytes += chunk[..<count]
        }
        pipe.source?.cancel()
        kill()
    }

    private func reap() -> Int32? {
        var status: Int32 = 0
        let process = self.process
        self.process = 0
        guard waitpid(process, &status, WNOHANG) == process else {
            // The kernel does not let go of it yet, and nobody else is to wait for that.
            try? BackgroundThread.start("reaper") { waitpid(process, nil, 0) }
            return nil
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }
}
