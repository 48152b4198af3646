internal import DBus
public import FoundationEssentials
// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient
public import Observation
internal import Platform

/// What a user is doing in the application: it can be continued on another device.
///
/// Setters are synchronous and check at once: a value that breaks a rule leaves the former in its place, and is reported
/// to ``UserActivityDelegate/userActivity(_:didFail:)`` and ``onFailure(_:)``; ``set(_:to:)`` throws instead. What only the
/// broker can refuse, because a quota is used up, is reported likewise, later: then the property has the former value
/// again, here too, unless another one was set since. ``HandoffError/properties`` says which. Everything that is set in one turn of the loop travels together. Without Handoff all of it is
/// accepted and nothing happens.
///
/// An activity ends when ``invalidate()`` is called, when the last responder is dissociated from it that was associated,
/// or when nobody holds it any more.
@MainActor @Observable
public final class UserActivity {
    /// Who saves it and hears of it.
    @ObservationIgnored public weak var delegate: (any UserActivityDelegate)?
    /// Whether it is the current activity of the session.
    public internal(set) var isCurrent = false
    /// Whether it has not ended; an activity that has ended can't become current.
    public internal(set) var isValid = true
    /// Where it comes from; nil for an activity of this device.
    @ObservationIgnored public let origin: ContinuationDevice?
    /// With which a window can be raised that shows a continued activity, nil for none (`XDG_ACTIVATION_TOKEN`).
    @ObservationIgnored public let activationToken: String?

    @ObservationIgnored var content = ActivityContent()
    /// The type that it was given; empty for none.
    @ObservationIgnored let requestedType: String
    @ObservationIgnored weak var application: HandoffApplication?
    /// What the broker knows it by, once it does.
    @ObservationIgnored var number: ActivityKey?
    /// What is to be sent at the end of this turn.
    @ObservationIgnored var pending: [String: Value] = [:]
    @ObservationIgnored var isFlushing = false
    /// The save that is under way, and holds back what is set meanwhile.
    @ObservationIgnored var saving: RunningSave?
    /// How many saves go on although they were given up.
    @ObservationIgnored var savesGivenUp = 0
    /// How often ``userInfo`` was set.
    @ObservationIgnored var stateChanges = 0
    /// Where a refusal goes instead of the delegate.
    @ObservationIgnored var refusal: HandoffError?
    @ObservationIgnored var isThrowing = false
    /// The keys that the present typed payload has taken, and those that any has taken.
    @ObservationIgnored var storedPayloadKeys: (present: Set<String>, all: Set<String>) = ([], [])
    @ObservationIgnored var associations: [WeakAssociation] = []
    /// Whether it is that of a document, which says when it ends.
    @ObservationIgnored var isOfDocument = false
    /// The continuation that has brought it.
    @ObservationIgnored let lease: ContinuationLease?
    @ObservationIgnored var closures = UserActivityClosures()
    private var storedNeedsSave = false
    /// The type that the broker has given it.
    private var chosenType: String?

    /// An activity of this type.
    /// - Parameters:
    ///   - activityType: empty for the one that the application declares for documents of the type that ``documentURL``
    ///     has when this first becomes current, else for the first that it declares.
    ///   - title: what the user is doing.
    ///   - application: whose activity it is; nil for the one of this process.
    public init(activityType: String = "", title: String = "", application: HandoffApplication? = nil) {
        requestedType = activityType
        origin = nil
        activationToken = nil
        lease = nil
        self.application = application ?? .shared
        if !title.isEmpty { self.title = title }
    }

    /// An activity that another device has sent.
    init(
        type: String, content: ActivityContent, lease: ContinuationLease, origin: ContinuationDevice,
        activationToken: String, application: HandoffApplication
    ) {
        requestedType = type
        self.content = content
        self.lease = lease
        self.origin = origin
        self.activationToken = activationToken.isEmpty ? nil : activationToken
        self.application = application
        payloadKeys = content.userInfo.keys
    }

    isolated deinit {
        if let number { application?.forget(number) }
    }

    /// The type of an activity that is nothing but a web page.
    nonisolated public static let browsingWeb = "org.example.Handoff.BrowsingWeb"

    /// What kind of activity it is. If none was given, it is what the broker has chosen, which knows the desktop entry and
    /// the types of documents too; before there is a broker, the first with which the ``HandoffApplication`` was made.
    public var activityType: String {
        chosenType ?? (requestedType.isEmpty ? application?.defaultType ?? "" : requestedType)
    }
    /// What the user is doing, for people to read.
    public var title: String {
        get { get(\.title, \.title) }
        set { set(\.title, \.title, "Title", newValue) }
    }
    /// The state that the continuing application needs. It is empty whenever a save begins.
    public var userInfo: UserInfo {
        get {
            if let save = saveGivenUp, let draft = save.draft { return draft.userInfo }
            return get(\.userInfo, \.userInfo)
        }
        set {
            if let save = saveGivenUp {
                // It puts its own state together, which is not that of the activity.
                guard isFine(\.userInfo, "UserInfo", newValue) else { return }
                save.draft?.userInfo = newValue
                save.hasNewState = true
                return
            }
            guard set(\.userInfo, \.userInfo, "UserInfo", newValue) else { return }
            stateChanges += 1
            saving?.hasNewState = true
        }
    }
    /// The save on whose behalf this is called, if it was given up.
    var saveGivenUp: RunningSave? {
        RunningSave.current.flatMap { $0.isGivenUp(of: self) ? $0 : nil }
    }
    /// The keys of ``userInfo`` that are enough to restore it later; empty means all.
    public var requiredUserInfoKeys: Set<String> {
        get { get(\.requiredUserInfoKeys, \.requiredUserInfoKeys) }
        set { set(\.requiredUserInfoKeys, \.requiredUserInfoKeys, "RequiredUserInfoKeys", newValue) }
    }
    /// A web page that shows the same thing: an absolute `http` or `https` URL.
    public var webpageURL: URL? {
        get { get(\.webpageURL, \.webpageURL) }
        set { set(\.webpageURL, \.webpageURL, "WebpageURL", newValue) }
    }
    /// The document that the user is working on: a `file` URL.
    public var documentURL: URL? {
        get { get(\.documentURL, \.documentURL) }
        set { set(\.documentURL, \.documentURL, "DocumentURL", newValue) }
    }
    /// The web page from which the user came: an absolute `http` or `https` URL.
    public var referrerURL: URL? {
        get { get(\.referrerURL, \.referrerURL) }
        set { set(\.referrerURL, \.referrerURL, "ReferrerURL", newValue) }
    }
    /// Words under which it should be found.
    public var keywords: Set<String> {
        get { get(\.keywords, \.keywords) }
        set { set(\.keywords, \.keywords, "Keywords", newValue) }
    }
    /// When it stops being offered; nil for never.
    public var expirationDate: Date? {
        get { get(\.expirationDate, \.expirationDate) }
        set { set(\.expirationDate, \.expirationDate, "ExpirationDate", newValue) }
    }
    /// What identifies its content to the application.
    public var targetContentIdentifier: String? {
        get { get(\.targetContentIdentifier, \.targetContentIdentifier) }
        set { set(\.targetContentIdentifier, \.targetContentIdentifier, "TargetContentIdentifier", newValue) }
    }
    /// What identifies it over a longer time.
    public var persistentIdentifier: String? {
        get { get(\.persistentIdentifier, \.persistentIdentifier) }
        set { set(\.persistentIdentifier, \.persistentIdentifier, "PersistentIdentifier", newValue) }
    }
    /// Whether it may be continued on other devices.
    public var isEligibleForHandoff: Bool {
        get { get(\.isEligibleForHandoff, \.isEligibleForHandoff) }
        set { set(\.isEligibleForHandoff, \.isEligibleForHandoff, "EligibleForHandoff", newValue) }
    }
    /// Whether it may be found by search.
    public var isEligibleForSearch: Bool {
        get { get(\.isEligibleForSearch, \.isEligibleForSearch) }
        set { set(\.isEligibleForSearch, \.isEligibleForSearch, "EligibleForSearch", newValue) }
    }
    /// Whether the continuing application may open streams.
    public var supportsContinuationStreams: Bool {
        get { get(\.supportsContinuationStreams, \.supportsContinuationStreams) }
        set {
            set(
                \.supportsContinuationStreams, \.supportsContinuationStreams, "SupportsContinuationStreams",
                newValue)
        }
    }
    /// Whether the state has changed since it was last saved. Set it whenever the user has changed something; while the
    /// activity is current it is saved then, at most once a second. A save clears it.
    public var needsSave: Bool {
        get { storedNeedsSave }
        set {
            guard storedNeedsSave != newValue else { return }
            storedNeedsSave = newValue
            send("NeedsSave", .boolean(newValue))
        }
    }

    /// A save begins.
    func clearNeedsSave() {
        if storedNeedsSave { storedNeedsSave = false }
        pending["NeedsSave"] = nil
    }

    // MARK: Setting

    private func get<Property>(
        _ property: KeyPath<UserActivity, Property>, _ field: KeyPath<ActivityContent, Property>
    ) -> Property {
        access(keyPath: property)
        return content[keyPath: field]
    }

    /// - Returns: whether the property has this value now.
    @discardableResult
    private func set<Property: ActivityProperty>(
        _ property: KeyPath<UserActivity, Property>,
        _ field: WritableKeyPath<ActivityContent, Property>, _ name: String, _ new: Property
    ) -> Bool {
        guard content[keyPath: field] != new else { return true }
        do {
            var changed = content
            let value = try changed.set(field, name, new)
            withMutation(keyPath: property) { content = changed }
            send(name, value)
            return true
        } catch {
            refused(error.about([name]))
            return false
        }
    }

    /// Whether a property may have this value. If not, that is reported.
    private func isFine<Property: ActivityProperty>(
        _ field: WritableKeyPath<ActivityContent, Property>, _ name: String, _ new: Property
    ) -> Bool {
        do {
            var changed = content
            _ = try changed.set(field, name, new)
            return true
        } catch {
            refused(error.about([name]))
            return false
        }
    }

    /// The state is another one from now on, but that is not to be sent.
    func replaceUserInfo(_ new: UserInfo) {
        guard content.userInfo != new else { return }
        var changed = content
        guard (try? changed.set(\.userInfo, "UserInfo", new)) != nil else { return }
        withMutation(keyPath: \.userInfo) { content = changed }
    }

    /// The property has the value that it has in `former`.
    func restore<Property: ActivityProperty>(
        _ property: KeyPath<UserActivity, Property>, _ field: WritableKeyPath<ActivityContent, Property>,
        _ former: ActivityContent
    ) {
        guard content[keyPath: field] != former[keyPath: field] else { return }
        withMutation(keyPath: property) { content.take(field, of: former) }
    }

    /// The broker has created it.
    func created(type: String) {
        if !type.isEmpty, activityType != type { chosenType = type }
    }

    /// Sets a property, and throws if the value is refused, in which case nothing has changed.
    ///
    /// ```swift
    /// try activity.set(\.webpageURL, to: url)
    /// ```
    public func set<Property>(
        _ property: ReferenceWritableKeyPath<UserActivity, Property>, to value: Property
    ) throws(HandoffError) {
        let wasThrowing = isThrowing
        isThrowing = true
        self[keyPath: property] = value
        isThrowing = wasThrowing
        defer { refusal = nil }
        if let refusal { throw refusal }
    }

    /// Something was refused, here or by the broker.
    func refused(_ error: HandoffError) {
        guard !isThrowing else {
            refusal = error
            return
        }
        guard closures.onFailure != nil || delegate != nil else { return warn(of: error) }
        closures.onFailure?(self, error)
        delegate?.userActivity(self, didFail: error)
    }

    /// Tells the application's author of a refusal that nothing in the application looks at.
    func warn(of error: HandoffError) {
        let properties = error.properties.isEmpty ? "" : " (\(error.properties.joined(separator: ", ")))"
        kitLog.warning("The activity “\(activityType)”\(properties): \(error.message)")
    }
}
