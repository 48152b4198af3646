internal import DBus
// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient

extension UserActivity {
    /// Makes it the current activity of the session, which can be continued on other devices. The one before stops
    /// being current.
    public func becomeCurrent() {
        guard isStillValid() else { return }
        guard let application = adopter else {
            HandoffApplication.await(self)
            return
        }
        let number = create(for: application)
        flush()
        application.backend.becomeCurrent(number)
    }

    /// It is no longer current. Until it becomes current or open again it is closed: it is not among what the user finds when
    /// they look from another device at what is open here.
    public func resignCurrent() {
        endCurrent { $0.resignCurrent($1) }
    }

    /// It is no longer current, as when another one becomes current, and stays open: the user is at something that is no
    /// activity, such as another application's window.
    public func leaveCurrent() {
        endCurrent { $0.leaveCurrent($1) }
    }

    /// It is open from now on, without becoming current: the user finds it when they look from another device at what is open
    /// here, and it is not offered. This is for what belongs to what they do and is not what they are at, such as all tabs of
    /// a window. ``resignCurrent()`` or ``invalidate()`` closes it. Before there is a ``HandoffApplication`` it does nothing.
    public func becomeOpen() {
        guard isStillValid(), let application = adopter else { return }
        let number = create(for: application)
        flush()
        application.backend.becomeOpen(number)
    }

    private func endCurrent(_ end: @MainActor (BusBackend, ActivityKey) -> Void) {
        guard isStillValid() else { return }
        guard let application, let number else {
            HandoffApplication.forgetWaiting(self)
            return
        }
        flush()
        end(application.backend, number)
    }

    /// Ends it, here and on all devices; it cannot be revived. Its responders are dissociated.
    public func invalidate() {
        guard isValid else { return }
        isValid = false
        if isCurrent { isCurrent = false }
        HandoffApplication.forgetWaiting(self)
        let former = associations
        associations = []
        for association in former { association.value?.activityEnded(self) }
        pending = [:]
        if let number { application?.forget(number) }
        number = nil
    }

    /// Whether it has not ended. If it has, that is reported as a failure of what was asked for.
    func isStillValid() -> Bool {
        if !isValid {
            refused(
                HandoffError(
                    .unknownObject, "This activity has ended. Make a new one, which can become current."))
        }
        return isValid
    }

    /// The application that it belongs to, from now on if it was made before any was.
    private var adopter: HandoffApplication? {
        if application == nil { application = .shared }
        return application
    }

    /// Makes it known to the broker, once.
    private func create(for application: HandoffApplication) -> ActivityKey {
        if let number { return number }
        let number = application.take(self)
        self.number = number
        pending = [:]
        var properties = content.properties
        if let saving {
            // What a save is still putting together goes along once it is whole.
            let former = saving.former.userInfo
            properties["UserInfo"] = former.isEmpty ? nil : try? former.propertyValue()
        }
        if needsSave { properties["NeedsSave"] = .boolean(true) }
        application.backend.create(number, type: requestedType, properties: properties)
        return number
    }

    /// The application has stopped, and all that the broker knew of it is gone.
    func applicationStopped() {
        number = nil
        pending = [:]
        if isCurrent { isCurrent = false }
    }

    // MARK: Sending

    /// A property has changed; what changes in this turn of the loop travels together.
    func send(_ name: String, _ value: Value) {
        guard number != nil else { return }
        // What a save is still putting together goes along once it is whole.
        if saving != nil, name == "UserInfo" { return }
        pending[name] = value
        guard !isFlushing, saving == nil else { return }
        isFlushing = true
        Task { [weak self] in
            self?.isFlushing = false
            if self?.saving == nil { self?.flush() }
        }
    }

    /// Sends what has changed.
    func flush() {
        guard let number, let application else { return }
        let changes = pending
        pending = [:]
        if !changes.isEmpty { application.backend.update(number, changes) }
    }
}
