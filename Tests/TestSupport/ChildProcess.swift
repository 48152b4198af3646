// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Foundation
package import MainLoop
import Platform

/// A program that a test runs: its output is captured, and it is killed when the value is freed.
@MainLoop
package final class ChildProcess {
    /// How a program ended.
    package enum End: Equatable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// Its process id.
    package let id: Int32
    /// How it ended, nil while it runs.
    package private(set) var end: End?
    private let outputs: (standard: CapturedOutput, errors: CapturedOutput)

    /// Starts `arguments[0]`, looked up in `PATH`, with `environment` in addition to ours (nil unsets).
    package init(_ arguments: [String], environment: [String: String?] = [:]) throws {
        let (standard, errors) = (try Pipe.make(), try Pipe.make())
        outputs = (CapturedOutput(standard.reader), CapturedOutput(errors.reader))
        defer {
            close(standard.writer)
            close(errors.writer)
        }
        id = try Self.spawn(arguments, environment, standard.writer, errors.writer)
        let ended = Callback.Once<Int32>.pass { [weak self] status in self?.ended(status) }
        g_child_watch_add(id, { _, status, data in Callback.Once<Int32>.call(data, status) }, ended)
    }

    isolated deinit { if end == nil { kill(id, SIGKILL) } }

    /// What it has written to standard output.
    package var output: String { outputs.standard.text }
    /// What it has written to standard error.
    package var errors: String { outputs.errors.text }

    /// Sends it a signal, unless it has ended.
    package func send(signal: Int32) { if end == nil { kill(id, signal) } }

    /// Waits until it has ended and all of its output is here.
    package func finished(
        timeout: Duration = .seconds(20), file: StaticString = #fileID, line: UInt = #line
    ) async throws -> End {
        try await eventually(timeout: timeout, file: file, line: line) {
            end != nil && outputs.standard.isComplete && outputs.errors.isComplete
        }
        guard let end else { throw TimedOut(description: "\(file):\(line): not ended") }
        return end
    }

    private func ended(_ status: Int32) {
        let signal = status & 0x7f
        end = signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: signal)
    }

    private static func spawn(
        _ arguments: [String], _ environment: [String: String?], _ output: Int32, _ errors: Int32
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        var variables = ProcessInfo.processInfo.environment
        for (name, value) in environment { variables[name] = value }
        let strings = variables.map { "\($0)=\($1)" }
        let program = arguments.first ?? ""
        var id = pid_t()
        let failed = withCStrings(arguments) { arguments in
            withCStrings(strings) { posix_spawnp(&id, program, &actions, nil, arguments, $0) }
        }
        guard failed == 0 else { throw POSIXError(.init(rawValue: failed) ?? .EIO) }
        return id
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}

/// A close-on-exec pipe.
enum Pipe {
    static func make() throws -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        _ = try throwingGError { g_unix_open_pipe(&ends, FD_CLOEXEC, $0) }
        return (ends[0], ends[1])
    }
}

/// Collects what arrives on a pipe.
@MainLoop
private final class CapturedOutput {
    private var bytes: [UInt8] = []
    private var source: DescriptorSource?
    private(set) var isComplete = false
    private let descriptor: Int32

    /// Takes over `descriptor`.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        source = DescriptorSource(descriptor, .readable) { [weak self] _ in self?.collect() }
    }

    isolated deinit {
        source?.cancel()
        close(descriptor)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    private func collect() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &buffer, buffer.count)
        if count > 0 { return bytes.append(contentsOf: buffer[..<count]) }
        if count < 0 && errno == EINTR { return }
        isComplete = true
        source?.cancel()
    }
}
