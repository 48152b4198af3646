// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces

/// Several activities that are continued here by one choice of the user, as the broker shows it.
package struct ContinueAllRun: Equatable, Sendable {
    /// What has become of one of them.
    package struct Result: Equatable, Sendable {
        /// How far it is.
        package enum State: String, Comparable, Sendable {
            /// Its turn has not come.
            case waiting
            /// It is under way.
            case continuing
            /// It was continued here.
            case continued
            /// It does not.
            case failed

            /// Whether nothing more comes of it.
            package var isOver: Bool { self == .continued || self == .failed }

            private var rank: Int { isOver ? 2 : self == .continuing ? 1 : 0 }

            /// None of them goes back.
            package static func < (one: State, other: State) -> Bool { one.rank < other.rank }
        }

        /// The object of the activity.
        package let activity: ObjectPath
        /// The device that it is on: 64 hexadecimal digits.
        package let deviceID: String
        /// What that is called; may be empty.
        package let deviceName: String
        /// What the activity is called; may be empty.
        package let title: String
        /// The application that it was or is to be continued by; may be empty.
        package let applicationID: String
        package let state: State
        /// The name of the error; empty if there is none.
        package let errorName: String
        /// What is said of it, for people to read; empty if nothing.
        package let message: String

        /// Those in the property `Results`.
        static func all(in value: Value?) -> [Result] {
            Value.propertyList(value).compactMap { Result($0) }
        }

        /// The result that these properties describe; nil if they are none.
        init?(_ properties: [String: Value]) {
            guard case .objectPath(let path)? = properties["Activity"],
                let state = State(rawValue: properties.text("State"))
            else { return nil }
            activity = path
            self.state = state
            let parts = path.suffix(below: HandoffNames.remote)?.split(separator: "/") ?? []
            deviceID = parts.first.map { String($0) } ?? ""
            deviceName = properties.text("DeviceName")
            title = properties.text("Title")
            applicationID = properties.text("ApplicationId")
            errorName = properties.text("ErrorName")
            message = properties.text("Message")
        }

        /// Why it was not continued here; nil if it was, or is not over.
        package var failure: FailureText? {
            guard state == .failed else { return nil }
            return FailureText(
                errorName: errorName, FailureText.words(of: message, from: applicationID, title))
        }
        /// Whether the user did not want it any more.
        package var isCancelled: Bool { errorName == HandoffFailure.Code.cancelled.errorName.text }
    }

    /// Its object.
    package let path: ObjectPath
    /// How many activities there are.
    package let total: Int
    /// How many of them were continued here.
    package let done: Int
    /// How many do not, and will not.
    package let failed: Int
    /// What has become of each, in the order in which they were chosen.
    package let results: [Result]

    /// What the object at `path` is, if it is one.
    package init?(_ path: ObjectPath, _ interfaces: [String: [String: Value]]) {
        guard let properties = interfaces[ContinueAllProxy.interface.text] else { return nil }
        self.path = path
        total = properties.number("Total")
        done = properties.number("Done")
        failed = properties.number("Failed")
        results = Result.all(in: properties["Results"])
    }

    /// Whether nothing of it is under way any more.
    package var isOver: Bool { done + failed >= total }

    /// Those among `objects`.
    static func all(in objects: ManagedObjects) -> [ContinueAllRun] {
        objects.compactMap { ContinueAllRun($0, $1) }.sorted { $0.path < $1.path }
    }
}
