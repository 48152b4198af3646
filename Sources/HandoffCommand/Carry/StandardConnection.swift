// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// A connection for the bridge that is standard input and output, as the other end of a carrier has them.
enum StandardConnection {
    /// Makes sure that both are there, and are for bytes.
    /// - Throws: what is wrong with them.
    static func check() throws(CommandFailure) {
        guard StandardDescriptors.closed.isDisjoint(with: [STDIN_FILENO, STDOUT_FILENO]) else {
            throw .usage(
                tr("--accept: standard input or output is closed. Both have to lead to the other device."))
        }
        // Bytes from elsewhere could steer the terminal.
        guard isatty(STDOUT_FILENO) == 0 else {
            throw .usage(
                tr("--accept: standard output is a terminal. Let a program such as ssh run this."))
        }
    }

    /// Gives them to `bridge`, and returns when nothing more comes from it.
    /// - Throws: if the bridge refuses that, or its bytes cannot be passed on.
    @MainLoop
    static func carry(to bridge: Daemon) async throws {
        let end = try await connection(to: bridge).take()
        // From here on the descriptor stays open until the process ends: another thread may use it until then.
        MainLoop.start { await Self.passOnInput(to: end) }
        do {
            try await ByteCopy(from: end, to: STDOUT_FILENO).run()
        } catch ByteCopy.Failure.reading {
            // The bridge has closed it, and has not read everything before.
        } catch ByteCopy.Failure.writing(EPIPE), ByteCopy.Failure.writing(ECONNRESET) {
            // The other device has closed the connection, as it may at any time.
        } catch let failure as ByteCopy.Failure {
            throw CommandFailure(
                tr("Standard output cannot be written: {reason}.", ["reason": failure.reason]))
        }
        close(STDOUT_FILENO)
    }

    /// A new connection, the other end of which the bridge has taken.
    @MainLoop
    private static func connection(to bridge: Daemon) async throws -> FileDescriptor {
        let pair = try FileDescriptor.socketPair()
        try await bridge.bridge.carry(connection: pair.theirs)
        return pair.ours
    }

    /// Passes on what comes by standard input, and its end, while the other direction goes on.
    @MainLoop
    private static func passOnInput(to end: Int32) async {
        do {
            try await ByteCopy(from: STDIN_FILENO, to: end).run()
        } catch ByteCopy.Failure.writing {
            // The bridge takes nothing more, and says the rest by its own direction.
            return
        } catch ByteCopy.Failure.reading(ECONNRESET) {
            // The other device has closed the connection, and has not read everything before.
        } catch {
            let reason = (error as? ByteCopy.Failure)?.reason ?? CommandFailure(error).message
            Output.note(tr("Standard input cannot be read: {reason}.", ["reason": reason]))
        }
        shutdown(end, Int32(SHUT_WR))
    }
}
