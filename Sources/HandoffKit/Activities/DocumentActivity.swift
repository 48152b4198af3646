// SPDX-License-Identifier: LGPL-2.1-or-later
public import FoundationEssentials
public import Observation
internal import Synchronization

/// The activity of an open document: whoever has a document object with a URL has its activity by this, from any thread.
///
/// Every property can be set and observed on any thread; what is set takes effect on the main actor, the latest values
/// first. The activity ends with ``close()``, or when nobody holds this any more.
public final class DocumentActivity: Observable, Sendable {
    private enum Wish { case current, left, resigned }

    private struct State {
        var url: URL?
        var title: String?
        var isOpen = true
        /// What the application wants it to be, and how often it has said so.
        var wish = Wish.resigned
        var wishes: UInt64 = 0
        var hasChanged = false
        var isScheduled = false
    }

    /// The MIME type of the document; nil for what its name says.
    public let contentType: String?
    private let state: Mutex<State>
    private let registrar = ObservationRegistrar()
    private let holder: Holder

    /// The activity of the document at `url`, a file.
    /// - Parameters:
    ///   - url: where the document is; nil as long as it has not been saved anywhere.
    ///   - contentType: its MIME type, which decides what type of activity it is, by what the ``HandoffApplication`` was
    ///     made with; nil for what the name of the file says when it first becomes current, by the desktop entry too.
    ///   - title: what to call it; nil for the name of the file.
    ///   - application: whose document it is; nil for the one of this process.
    public init(
        url: URL?, contentType: String? = nil, title: String? = nil, application: HandoffApplication? = nil
    ) {
        self.contentType = contentType
        state = Mutex(State(url: url, title: title))
        holder = Holder(contentType, application)
        schedule()
    }

    deinit {
        Task { @MainActor [holder] in holder.end() }
    }

    /// Where the document is; nil as long as it has not been saved anywhere.
    public var url: URL? {
        get { read(\.url) { $0.url } }
        set { set(\.url) { $0.url = newValue } }
    }

    /// What to call it; nil for the name of the file. A save may call the ``userActivity`` otherwise, until this or ``url``
    /// changes.
    public var title: String? {
        get { read(\.title) { $0.title } }
        set { set(\.title) { $0.title = newValue } }
    }

    /// Whether the document is open.
    public var isOpen: Bool { read(\.isOpen) { $0.isOpen } }

    /// The document was closed: its activity ends, here and on all devices.
    public func close() {
        set(\.isOpen) { $0.isOpen = false }
    }

    /// The user is at the document: its activity becomes the current one.
    public func becomeCurrent() { wish(.current) }

    /// The user has left the document for something that is no activity, such as another application's window. It stays open.
    public func leaveCurrent() { wish(.left) }

    /// The user has left the document for good, or it must not be offered now.
    public func resignCurrent() { wish(.resigned) }

    /// The user has changed something that is not in the file yet, or has moved in it: the state is to be saved.
    public func noteChange() {
        state.withLock { $0.hasChanged = true }
        schedule()
    }

    /// The activity itself, for its ``UserActivity/userInfo``, its delegate and its responders; nil once it has ended.
    @MainActor public var userActivity: UserActivity? {
        _ = read(\.isOpen) { $0.isOpen }
        apply()
        guard let activity = holder.activity, activity.isValid else { return nil }
        return activity
    }

    private func wish(_ wish: Wish) {
        state.withLock {
            $0.wish = wish
            $0.wishes += 1
        }
        schedule()
    }

    // MARK: Observing

    private func read<Property>(
        _ property: KeyPath<DocumentActivity, Property>, _ body: (State) -> Property
    ) -> Property {
        registrar.access(self, keyPath: property)
        return state.withLock { body($0) }
    }

    private func set<Property>(
        _ property: KeyPath<DocumentActivity, Property>, _ write: (inout State) -> Void
    ) {
        registrar.withMutation(of: self, keyPath: property) { state.withLock { write(&$0) } }
        schedule()
    }

    // MARK: Taking effect

    /// Brings the activity up to date soon, once for whatever is set until then.
    private func schedule() {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        Task { @MainActor [weak self] in self?.apply() }
    }

    @MainActor private func apply() {
        let state = self.state.withLock { state in
            defer {
                state.isScheduled = false
                state.hasChanged = false
            }
            return state
        }
        guard state.isOpen else { return holder.end() }
        holder.update(url: state.url, title: state.title)
        if state.hasChanged { holder.activity?.needsSave = true }
        holder.wish(state.wish, state.wishes)
    }

    /// Holds the activity, on the main actor.
    @MainActor
    private final class Holder {
        private(set) var activity: UserActivity?
        private var hasEnded = false
        private let contentType: String?
        private weak var application: HandoffApplication?
        private var wishes: UInt64 = 0
        /// What the activity was last given.
        private var given: (url: URL?, title: String?)?

        nonisolated init(_ contentType: String?, _ application: HandoffApplication?) {
            self.contentType = contentType
            self.application = application
        }

        func update(url: URL?, title: String?) {
            guard !hasEnded else { return }
            let activity = activity ?? make()
            self.activity = activity
            // What a save has put there since stays.
            if let given, given == (url, title) { return }
            given = (url, title)
            activity.documentURL = url
            activity.title = title ?? url?.lastPathComponent ?? ""
        }

        private func make() -> UserActivity {
            let application = application ?? .shared
            let type = contentType.flatMap { application?.documentTypes[$0] } ?? ""
            let activity = UserActivity(activityType: type, application: application)
            activity.isOfDocument = true
            return activity
        }

        func wish(_ wish: Wish, _ count: UInt64) {
            guard count != wishes, let activity else { return }
            wishes = count
            switch wish {
            case .current: activity.becomeCurrent()
            case .left: activity.leaveCurrent()
            case .resigned: activity.resignCurrent()
            }
        }

        func end() {
            hasEnded = true
            activity?.invalidate()
            activity = nil
        }
    }
}
