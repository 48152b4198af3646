// SPDX-License-Identifier: LGPL-2.1-or-later

/// This application, as Handoff knows it.
@MainActor
public final class HandoffApplication {
    /// What restores itself from an activity: called with the objects that show it.
    public typealias RestorationHandler = @MainActor ([any UserActivityResponder]) -> Void

    /// The id: the name of the desktop entry without `.desktop`.
    public let id: String
    /// Who continues activities.
    public weak var delegate: (any HandoffApplicationDelegate)?
    /// The application that was made last.
    public private(set) static weak var shared: HandoffApplication?
    /// Whether there is a broker to talk to.
    public private(set) static var isAvailable = false

    /// An application, which begins with ``start()``.
    public init(
        id: String, activityTypes: [String] = [], team: String? = nil, documentTypes: [String: String] = [:],
        domains: [String] = []
    ) {
        self.id = id
        Self.shared = self
    }

    /// Called with each activity that is continued here, where there is no delegate.
    public func onContinue(
        _ body: @escaping @MainActor (UserActivity, ContinuationDevice) async throws -> Bool
    ) {}
    /// Called when something is coming; returns whether the application shows that.
    public func onWillContinue(_ body: @escaping @MainActor (String, ContinuationDevice) -> Bool) {}
    /// Called when what was coming does not come.
    public func onFailure(_ body: @escaping @MainActor (String, HandoffError) -> Void) {}

    /// Registers from now on, again with each new broker. Without Handoff it does nothing.
    public func start() {}
    /// Takes the registration and all activities back.
    public func stop() {}

    /// Runs the main loop for a program that has none of its own, until ``quit()``.
    public static func run() {}
    /// Ends ``run()``.
    public static func quit() {}
}

/// Who continues activities. Every requirement has a default.
@MainActor
public protocol HandoffApplicationDelegate: AnyObject {
    /// Something of this type is coming.
    /// - Returns: whether the application shows that to its user.
    func application(
        _ application: HandoffApplication, willContinueActivityOfType activityType: String,
        from device: ContinuationDevice
    ) -> Bool
    /// Continue this activity.
    /// - Returns: whether it was handled.
    func application(
        _ application: HandoffApplication, continue activity: UserActivity,
        restorationHandler: @escaping HandoffApplication.RestorationHandler
    ) async throws -> Bool
    /// What was coming does not come.
    func application(
        _ application: HandoffApplication, didFailToContinueActivityOfType activityType: String,
        error: HandoffError)
    /// A save has changed the activity.
    func application(_ application: HandoffApplication, didUpdate activity: UserActivity)
}

extension HandoffApplicationDelegate {
    public func application(
        _ application: HandoffApplication, willContinueActivityOfType activityType: String,
        from device: ContinuationDevice
    ) -> Bool { false }
    public func application(
        _ application: HandoffApplication, didFailToContinueActivityOfType activityType: String,
        error: HandoffError
    ) {}
    public func application(_ application: HandoffApplication, didUpdate activity: UserActivity) {}
}
