// SPDX-License-Identifier: LGPL-2.1-or-later
import ContactsModel
import HandoffGTK
import HandoffKit
import Platform

/// What a window hands off: all contacts, the one that is shown, or the one that is being typed.
@MainActor
final class ContactActivity {
    /// The three types of activity. The desktop entry declares the same.
    enum Kind: String, CaseIterable {
        /// All contacts, which go along by stream.
        case list = "org.example.contacts.list"
        /// One contact, as it is.
        case view = "org.example.contacts.view"
        /// A contact that is being typed, as far as it is.
        case edit = "org.example.contacts.edit"
    }

    /// Where the search of a list is in its state.
    static let queryKey = "query"

    private let window: ActivityWindow
    private let contacts: () -> [Contact]
    private var kind: Kind?
    private var activity: UserActivity? { window.userActivity }
    /// Which contact it is of; another one is another activity.
    private var contactID: String?
    private var state = WindowState()
    private var onContinued: (Kind, ContinuationDevice) -> Void

    /// The activity of a window. `contacts` are all that there are; `onContinued` is called once one was continued elsewhere.
    init(
        _ window: ActivityWindow, contacts: @escaping () -> [Contact],
        onContinued: @escaping (Kind, ContinuationDevice) -> Void
    ) {
        self.window = window
        self.contacts = contacts
        self.onContinued = onContinued
        window.onUpdateState = { [weak self] activity in self?.save(into: activity) }
    }

    /// The window shows this now.
    func show(_ state: WindowState) {
        let former = self.state
        self.state = state
        switch state.pane {
        case .nothing:
            begin(.list, nil, title: tr("All Contacts"))
            if former.query != state.query { activity?.needsSave = true }
        case .viewing(let contact):
            begin(.view, contact.id, title: contact.displayName)
            if former.viewed != contact { activity?.needsSave = true }
        case .editing(let draft):
            guard state.elsewhere == nil else { return begin(nil, nil, title: "") }
            begin(.edit, draft.contact.id, title: draft.activityTitle)
            if former.draft != draft { activity?.needsSave = true }
        case .continuing, .failed:
            begin(nil, nil, title: "")
        }
    }

    /// The window is gone.
    func end() { begin(nil, nil, title: "") }

    private func begin(_ kind: Kind?, _ contactID: String?, title: String) {
        if kind != self.kind || contactID != self.contactID {
            (self.kind, self.contactID) = (kind, contactID)
            let former = activity
            window.userActivity = kind.map { make($0, title) }
            former?.invalidate()
        } else if activity?.title != title {
            activity?.title = title
        }
    }

    private func make(_ kind: Kind, _ title: String) -> UserActivity {
        let activity = UserActivity(activityType: kind.rawValue, title: title)
        activity.supportsContinuationStreams = kind == .list
        activity.onWasContinued { [weak self] activity, device in
            guard let self, activity === self.activity else { return }
            onContinued(kind, device)
        }
        activity.onStream { [weak self] _, stream in self?.send(over: stream) }
        return activity
    }

    /// Puts what the window shows into the activity.
    private func save(into activity: UserActivity) {
        guard activity === self.activity else { return }
        do {
            switch state.pane {
            case .nothing: activity.userInfo[Self.queryKey] = .string(state.query)
            case .viewing(let contact): try activity.setTypedPayload(contact)
            case .editing(let draft): try activity.setTypedPayload(draft)
            case .continuing, .failed: break
            }
        } catch {
            // What was saved before is handed off, and a form that is too long says so itself.
        }
    }

    private func send(over stream: ContinuationStream) {
        let contacts = contacts()
        Task {
            for piece in ContactStream.Pieces(contacts) { try await stream.write(piece) }
            try await stream.finish()
        }
    }
}
