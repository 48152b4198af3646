// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop

/// The agent as an application that desktops know: whoever shows its notifications calls it when a button of one is pressed.
///
/// Every program that runs in no sandbox can call it. What it can do is what the user is asked at this moment, and only for
/// who knows the unpredictable word that was given to whoever shows the question.
@MainLoop
final class AgentApplication: ApplicationServer {
    private let board: NoticeBoard
    private let actions: any AgentActions

    /// The application whose buttons are on `board`.
    init(_ board: NoticeBoard, _ actions: any AgentActions) {
        self.board = board
        self.actions = actions
    }

    func activate(platformData: [String: Value], _ call: MethodCall) throws {
        actions.openWindow(token: Self.token(platformData))
    }

    func open(uris: [String], platformData: [String: Value], _ call: MethodCall) throws {
        throw DBusError.notSupported("The agent opens no files. Open them with another application.")
    }

    func activateAction(
        actionName: String, parameter: [Value], platformData: [String: Value], _ call: MethodCall
    ) throws {
        guard parameter.count == 1, let word = parameter.first?.string else {
            throw DBusError.invalidArgs(
                "The parameter of each action is one string (s), which is given with the notification that has it."
            )
        }
        guard board.press(actionName, word, token: Self.token(platformData)) else {
            throw DBusError.invalidArgs(
                "Nothing that is shown now has this action with this parameter. What was shown may have changed, or been"
                    + " answered already: look again.")
        }
    }

    /// What lets a program raise its window, by the name of Wayland or of X11; empty if there is none.
    static func token(_ platformData: [String: Value]) -> String {
        ActivationToken.checked(platformData["activation-token"]?.string)
            ?? ActivationToken.checked(platformData["desktop-startup-id"]?.string) ?? ""
    }
}
