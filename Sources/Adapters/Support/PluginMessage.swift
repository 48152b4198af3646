// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// Where the user of an application is, as its plugin says.
package protocol PluginState: Equatable, Sendable {
    /// The state that a message names; nil if it names none that may be continued elsewhere.
    init?(_ message: JSONValue)
}

/// What the plugin of an application says, one JSON object on a line.
package enum PluginMessage<State: PluginState>: Equatable, Sendable {
    /// The user is at this: `{"event": "front", …}`.
    case front(State)
    /// The user is at something else, which is none of ours: `{"event": "left"}`.
    case left
    /// There is nothing any more that may be continued elsewhere: `{"event": "closed"}`, or `front` with something that may not.
    case closed
    /// It is asked where the user is, and this is its answer; nil if it has none: `{"answer": …, …}`.
    case state(Int64, State?)
    /// It was asked to open something, and has done so, or has not: `{"answer": …, "opened": true}`.
    case opened(Int64, Bool)

    /// The message that `line` is; nil if it is none.
    package init?(_ line: [UInt8]) {
        guard let message = try? JSONValue.read(line) else { return nil }
        if let number = message["answer"]?.integer {
            self = message["opened"]?.boolean.map { .opened(number, $0) } ?? .state(number, State(message))
            return
        }
        switch message["event"]?.text {
        case "front": self = State(message).map { .front($0) } ?? .closed
        case "left": self = .left
        case "closed": self = .closed
        default: return nil
        }
    }

    /// The number of the question that it answers; nil if it answers none.
    var answers: Int64? {
        switch self {
        case .state(let number, _), .opened(let number, _): number
        default: nil
        }
    }
}
