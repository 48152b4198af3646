// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// The session of tmux(1) that this command is called in.
enum TmuxSession {
    /// Its name, as tmux says.
    static func name() throws(CommandFailure) -> String {
        // “TMUX” is the socket, the process of the server and the number of the session.
        guard let socket = Variables.all["TMUX"]?.split(separator: ",").first,
            let pane = Variables.all["TMUX_PANE"]
        else {
            throw CommandFailure(tr("This is no session of tmux. Start one (tmux), and try again in it."))
        }
        guard socket.split(separator: "/").last == "default" else {
            throw CommandFailure(
                tr(
                    "This session belongs to a server of tmux with a socket of its own, which another device would not find."
                        + " Start tmux without -L and -S."))
        }
        let run = ProgramRun(
            ["tmux", "display-message", "-p", "-t", pane, "#{session_name}"], keepsTerminal: false)
        guard run.hasSucceeded, let name = run.output.split(separator: "\n").first else {
            throw CommandFailure(
                tr("tmux does not say which session this is. Try “tmux display-message” to see why."))
        }
        return String(name)
    }
}
