// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import MainLoop

/// What the add-on has been asked and has not answered yet.
@MainLoop
final class AddOnQuestions {
    private let port: NativePort
    private var waiting: [Int: Awaited<JSONValue>] = [:]
    private var last = 0

    /// Questions that are asked through `port`.
    init(_ port: NativePort) { self.port = port }

    /// Sends `members` as the message `name`, and waits for what the add-on says about it.
    /// - Returns: nil if it says nothing within `time`.
    func answer(to name: String, _ members: [String: JSONValue], within time: Duration) async -> JSONValue? {
        last += 1
        let (number, answer) = (last, Awaited<JSONValue>())
        waiting[number] = answer
        defer { waiting[number] = nil }
        let own: [String: JSONValue] = ["message": .string(name), "id": .integer(number)]
        port.send(.object(members.merging(own) { $1 }))
        return await answer.value(within: time)
    }

    /// The add-on has answered. What nobody waits for any more is thrown away.
    func answered(_ message: JSONValue) {
        guard let number = message["id"]?.integer.flatMap({ Int(exactly: $0) }) else { return }
        waiting[number]?.come(message)
    }
}
