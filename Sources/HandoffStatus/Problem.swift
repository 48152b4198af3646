// SPDX-License-Identifier: LGPL-2.1-or-later

/// Something that keeps Handoff from working, and how to mend it, in the user's language.
package struct Problem: Equatable, Sendable {
    /// What a program with buttons can do about a problem at once.
    package enum Mend: Equatable, Sendable {
        /// Set `Enabled` to true.
        case switchOn
        /// Have the bus start the broker, which has it start the bridge.
        case startBroker
        /// Have the bus start the bridge.
        case startBridge
        /// Show how devices are paired.
        case pair
        /// Ask for an address, and call `Connect` with it.
        case connect
    }

    /// What is wrong.
    package let text: String
    /// The same for somebody who has a terminal, with what a daemon says of it in its own words.
    package let words: String
    /// What to do about it, for somebody who has a terminal.
    package let remedy: String
    /// What can be done at once; nil if nothing can.
    package let mend: Mend?
    /// The paired device that it is about; nil if it is about none.
    package let deviceID: String?

    /// A problem.
    package init(
        text: String, words: String? = nil, remedy: String, mend: Mend? = nil, deviceID: String? = nil
    ) {
        self.text = text
        self.words = words ?? text
        self.remedy = remedy
        self.mend = mend
        self.deviceID = deviceID
    }
}
