// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// Does what the user wants done, with the daemons.
@MainLoop
final class UserActions: AgentActions {
    /// How a continuation has failed.
    struct Failure {
        /// What kind of failure it is; nil if it is none of ours.
        let code: HandoffFailure.Code?
        /// Why, and what to do, for people to read.
        let text: FailureText
    }

    /// Called when the continuation of an offer has been asked for.
    var onContinuing: (@MainLoop (RemoteOffer) -> Void)?
    /// Called when such a continuation is over, with why it has failed; nil if it has not, and then with what the user has to
    /// know, which may be empty.
    var onOutcome: (@MainLoop (RemoteOffer, Failure?, _ note: String) -> Void)?

    /// Called when what is current here is sent to a device, and then with why it was not, if it was not.
    var onSent: (@MainLoop (ChosenText, FailureText?) -> Void)?

    /// Called when what is in the clipboard of a device is to be pasted, and then with why it was not, if it was
    /// not. That it was is told by whoever has put it into the clipboard.
    var onPasted: (@MainLoop (KnownDevice, FailureText?) -> Void)?

    /// Called with the reason, for people to read, if the Handoff window cannot be opened.
    var onWindowFailure: (@MainLoop (String) -> Void)? {
        get { window.onFailure }
        set { window.onFailure = newValue }
    }

    private let feed: StatusFeed
    private let window: HandoffWindow
    private let tokens: any ActivationTokens
    /// The offers whose continuation has been asked for here, and is not over.
    private var running: Set<ObjectPath> = []
    private var sends = OwnSends()
    /// The devices whose clipboard has been asked for, and has not come yet.
    private var pasting: Set<String> = []

    /// How long the broker may take to paste: longer than all that it waits for meanwhile.
    private static let patienceWithPasting = Duration.seconds(180)

    /// Does it with the daemons that `feed` follows. Where a surface has no activation token, one of `tokens` is used.
    init(_ feed: StatusFeed, _ window: HandoffWindow, _ tokens: any ActivationTokens) {
        self.feed = feed
        self.window = window
        self.tokens = tokens
    }

    func continueOffer(at path: ObjectPath, in applicationID: String?, token: String) {
        guard let broker = feed.broker,
            let offer = feed.report.broker.content?.offers.first(where: { $0.path == path })
        else { return }
        // A second press joins the first.
        guard running.insert(path).inserted else { return }
        onContinuing?(offer)
        var options: [String: Value] = [:]
        if let applicationID { options["ApplicationId"] = .string(applicationID) }
        let given = ActivationToken.checked(token)
        MainLoop.start { [weak self, tokens, options] in
            var options = options
            var token = given
            if token == nil {
                token = await Self.token(of: tokens, for: applicationID ?? offer.handlers.first)
            }
            if let token { options["ActivationToken"] = .string(token) }
            let (failure, note) = await Self.outcome(of: ContinueCall(broker, offer), options)
            self?.ended(offer, failure, note)
        }
    }

    private func ended(_ offer: RemoteOffer, _ failure: Failure?, _ note: String) {
        running.remove(offer.path)
        if let failure {
            agentLog.info("\(offer.path) was not continued: \(failure.text.summary) \(failure.text.detail)")
        }
        onOutcome?(offer, failure, note)
    }

    /// A token for an application, with which it may raise its window; nil if there is none to be had.
    private static func token(of tokens: any ActivationTokens, for application: String?) async -> String? {
        guard let application, let id = try? ApplicationID(application) else { return nil }
        return ActivationToken.checked(await tokens.token(for: id))
    }

    private static func outcome(
        of call: ContinueCall, _ options: [String: Value]
    ) async -> (failure: Failure?, note: String) {
        let failure: Failure
        do {
            let outcome = try await call.outcome(of: options)
            if outcome.isSuccess { return (nil, outcome.message) }
            failure = Failure(
                code: (try? ErrorName(outcome.errorName)).flatMap { HandoffFailure.Code($0) },
                text: FailureText(errorName: outcome.errorName, outcome.message))
        } catch is ContinueCall.Failure {
            failure = Failure(
                code: .connectionUnavailable,
                text: FailureText(summary: tr("The broker has ended before this was finished. Try again.")))
        } catch {
            let error = DBusError.converting(error)
            failure = Failure(code: HandoffFailure.Code(error.name), text: FailureText(error))
        }
        return (failure, "")
    }

    /// Ends the continuation of the offer at `path`, if it is under way.
    func cancelOffer(at path: ObjectPath) {
        callBroker(path, "cancelled") { try await $0.cancel() }
    }

    func dismissOffer(at path: ObjectPath) {
        callBroker(path, "dismissed") { try await $0.dismiss() }
    }

    func confirmPairing(with deviceID: String, matches: Bool) {
        callDevice(deviceID, "confirmed") { try await $0.confirmPairing(matches: matches) }
    }

    /// The same, but only if both still show `code`, which is what the user has seen.
    func confirmPairing(with deviceID: String, showing code: String, matches: Bool) {
        let device = feed.report.bridge.content?.devices.first { $0.id == deviceID }
        guard device?.pairingState == "comparing", device?.pairingCode == code else { return }
        confirmPairing(with: deviceID, matches: matches)
    }

    /// Agrees to pair with a device that has asked.
    func pair(with deviceID: String) {
        callDevice(deviceID, "paired") { try await $0.pair() }
    }

    /// Pairs with a device that a peer has introduced.
    func acceptIntroduction(of deviceID: String) {
        callDevice(deviceID, "accepted") { try await $0.acceptIntroduction() }
    }

    /// Does not pair with a device that a peer has introduced.
    func declineIntroduction(of deviceID: String) {
        callDevice(deviceID, "declined") { try await $0.declineIntroduction() }
    }

    /// Ends the pairing with a device.
    func unpair(_ deviceID: String) {
        callDevice(deviceID, "unpaired") { try await $0.unpair() }
    }

    /// Keeps a device that others have unpaired.
    func keep(_ deviceID: String) {
        callDevice(deviceID, "kept") { try await $0.keepPairing() }
    }

    func send(to deviceID: String) {
        if let broker = feed.broker,
            let phone = KnownPhone.meant(by: deviceID, among: feed.report.broker.content?.phones ?? [])
        {
            onSent?(phone.label, nil)
            MainLoop.start { [weak self] in
                do {
                    try await phone.send(by: broker)
                } catch {
                    let error = DBusError.converting(error)
                    agentLog.info("What is current here was not sent to a telephone: \(error.message)")
                    self?.onSent?(phone.label, .sendingToPhone(error))
                }
            }
            return
        }
        guard let bridge = feed.bridge,
            let device = feed.report.bridge.content?.devices.first(where: { $0.id == deviceID })
        else { return }
        onSent?(device.label, nil)
        let proxy = DeviceProxy(bridge.object(device.path))
        MainLoop.start { [weak self] in
            do {
                try await proxy.send()
                // That it is on its way has been said before that.
                self?.sends.began(deviceID)
                self?.devicesChanged()
            } catch {
                let error = DBusError.converting(error)
                self?.notSent(to: device, .sending(error), error.message)
            }
        }
    }

    /// To be called when a device may be another than before.
    func devicesChanged() {
        let devices = feed.report.bridge.content?.devices ?? []
        let known = devices.map { OwnSends.Device(id: $0.id, isSending: $0.isSending, error: $0.sendError) }
        for failed in sends.update(known) {
            guard let device = devices.first(where: { $0.id == failed.id }),
                let failure = device.sendFailure
            else { continue }
            notSent(to: device, failure, failed.error)
        }
    }

    private func notSent(to device: KnownDevice, _ failure: FailureText, _ message: String) {
        agentLog.info("What is current here was not sent to \(device.id): \(message)")
        onSent?(device.label, failure)
    }

    func paste(from deviceID: String) {
        guard let broker = feed.broker,
            let device = feed.report.bridge.content?.devices.first(where: { $0.id == deviceID })
        else { return }
        // A second press joins the first.
        guard pasting.insert(deviceID).inserted else { return }
        onPasted?(device, nil)
        let proxy = ClipboardProxy(broker.object(HandoffNames.brokerPath))
        MainLoop.start { [weak self] in
            do {
                _ = try await proxy.paste(deviceId: deviceID, timeout: Self.patienceWithPasting)
                self?.pasting.remove(deviceID)
            } catch {
                self?.pasting.remove(deviceID)
                self?.notPasted(from: device, DBusError.converting(error))
            }
        }
    }

    private func notPasted(from device: KnownDevice, _ error: DBusError) {
        agentLog.info("Nothing was pasted from \(device.id): \(error.message)")
        onPasted?(device, .pasting(error))
    }

    func setEnabled(_ isEnabled: Bool) {
        guard let broker = feed.broker else { return }
        perform("switched") { try await broker.manager.setEnabled(isEnabled) }
    }

    func openWindow(token: String) { window.open(token: token) }

    func openEverything(at deviceID: String, token: String) {
        window.open(.everything(deviceID), token: token)
    }

    // MARK: Calling

    private func callBroker(
        _ path: ObjectPath, _ what: String,
        _ call: @escaping @MainLoop @Sendable (RemoteActivityProxy) async throws -> Void
    ) {
        guard let broker = feed.broker,
            feed.report.broker.content?.offers.contains(where: { $0.path == path }) == true
        else { return }
        let proxy = RemoteActivityProxy(broker.object(path))
        perform(what) { try await call(proxy) }
    }

    private func callDevice(
        _ deviceID: String, _ what: String,
        _ call: @escaping @MainLoop @Sendable (DeviceProxy) async throws -> Void
    ) {
        guard let bridge = feed.bridge,
            let device = feed.report.bridge.content?.devices.first(where: { $0.id == deviceID })
        else { return }
        let proxy = DeviceProxy(bridge.object(device.path))
        perform(what) { try await call(proxy) }
    }

    /// What comes of it is seen in the next reports, and only what does not is said in the log.
    private func perform(_ what: String, _ body: @escaping @MainLoop @Sendable () async throws -> Void) {
        MainLoop.start {
            do {
                try await body()
            } catch {
                agentLog.info("Nothing was \(what): \(DBusError.converting(error).message)")
            }
        }
    }
}
