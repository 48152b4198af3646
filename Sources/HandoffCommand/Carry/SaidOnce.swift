// SPDX-License-Identifier: LGPL-2.1-or-later
internal import MainLoop
internal import Platform

/// What the user is told on standard error while a command goes on: each text once, however often it is true again.
@MainLoop
final class SaidOnce {
    /// How many texts are told.
    private static let maximum = 100

    private var said: Set<String> = []

    /// Nothing has been told.
    init() {}

    /// Tells it, unless that was done before.
    func say(_ text: String) {
        guard said.count < Self.maximum, said.insert(text).inserted else { return }
        Output.note(text)
        if said.count == Self.maximum { Output.note(tr("Further failures are not reported.")) }
    }
}
