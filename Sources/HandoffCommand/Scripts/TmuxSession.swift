// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop
internal import Platform

/// The session of tmux(1) that this command is called in.
enum TmuxSession {
    /// How long tmux may take to answer.
    private static let patience = Duration.seconds(5)

    /// Its name, as tmux says.
    @MainLoop
    static func name() async throws(CommandFailure) -> String {
        // “TMUX” is the socket, the process of the server and the number of the session.
        guard let socket = Variables.all["TMUX"]?.split(separator: ",").first,
            let pane = Variables.all["TMUX_PANE"]
        else {
            throw CommandFailure(tr("This is not a session of tmux. Start one (tmux), and try again in it."))
        }
        guard socket.split(separator: "/").last == "default" else {
            throw CommandFailure(
                tr(
                    "This session belongs to a server of tmux with a socket of its own, which another device would not find."
                        + " Start tmux without -L and -S."))
        }
        let silent = CommandFailure(
            tr("tmux does not say which session this is. Try “tmux display-message” to see why."))
        guard let tmux = ProgramFiles.find("tmux") else { throw silent }
        let program = BriefProgram(
            [tmux, "display-message", "-p", "-t", pane, "#{session_name}"],
            environment: Variables.all.map { "\($0.key)=\($0.value)" }, maximumSize: 4096)
        guard let outcome = try? await program.run(within: patience), outcome.status == 0,
            let name = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").first
        else { throw silent }
        return String(name)
    }
}
