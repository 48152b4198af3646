// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient

/// An application that is registered with the broker.
package struct RegisteredApplication: ListedEntry, Equatable, Sendable {
    /// The unique name of its connection.
    package let connection: String
    package let applicationID: String
    package let team: String
    /// The types of activities that it has declared.
    package let types: [String]
    /// Whether the user keeps it out.
    package let isExcluded: Bool
    /// How many activities it has.
    package let activities: Int
    /// Whether one of them is the current activity of this session.
    package let isCurrent: Bool
    /// Why that is not offered to other devices; empty if it is.
    package let notOffered: String

    /// The application that these properties describe.
    package init(_ properties: [String: Value]) {
        connection = properties.text("Connection")
        applicationID = properties.text("ApplicationId")
        team = properties.text("Team")
        types = properties.texts("ActivityTypes")
        isExcluded = properties.flag("Excluded")
        activities = properties.number("Activities")
        isCurrent = properties.flag("Current")
        notOffered = properties.text("NotOffered")
    }
}

/// What a program was refused last.
package struct RecentRefusal: ListedEntry, Equatable, Sendable {
    /// When, in microseconds since the Unix epoch.
    package let time: Int64
    /// The unique name of its connection.
    package let connection: String
    /// Its process, 0 if that is not known.
    package let process: Int
    /// What it had registered; empty if nothing.
    package let applicationID: String
    /// The method.
    package let member: String
    /// The D-Bus name of the error.
    package let error: String
    /// What was wrong, and what to do.
    package let message: String

    /// The refusal that these properties describe.
    package init(_ properties: [String: Value]) {
        time = properties.time("Time")
        connection = properties.text("Connection")
        process = properties.number("ProcessId")
        applicationID = properties.text("ApplicationId")
        member = properties.text("Member")
        error = properties.text("ErrorName")
        message = properties.text("Message")
    }
}
