// SPDX-License-Identifier: LGPL-2.1-or-later
internal import AdapterSupport
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// Continues here what other devices play: in the same application if it is installed, a running one if there is one, and
/// otherwise in what the user's files of that kind are opened with.
@MainLoop
final class MediaContinuing {
    /// Called when ``isExpecting`` may be different.
    var onCount: (@MainLoop () -> Void)?
    /// Whether a player is still expected to say that it plays something.
    var isExpecting: Bool { !expectations.isEmpty }

    /// What a player is expected to say.
    private struct Expectation {
        /// Which application; nil for any.
        let application: ApplicationID?
        /// What it plays; nil for anything it may say.
        let address: MediaAddress?
        let came: Awaited<PlayerObject?>
    }

    /// How long a player may take to open something.
    private static let opening = Duration.seconds(8)
    /// How long one may take to be there, where only it can go to the position.
    private static let starting = Duration.seconds(15)
    /// How long one may take that was told the position when it was started.
    private static let briefly = Duration.seconds(3)
    /// How long a player gets to go to a place before it is told again.
    private static let pauses: [Duration] = [50, 100, 250, 500, 1000, 1000].map { .milliseconds($0) }
    /// How long it is told in all: one that answers slowly, or not, keeps nobody waiting for longer.
    private static let placing = Duration.seconds(4)
    /// How far from its place a player may be, beside the time that has passed, in microseconds.
    private static let tolerance: Int64 = 100_000

    private let service: AdapterService
    private let watch: PlayerWatch
    private let looks: FileLooks
    private let programs: ProgramStarter
    private let files: OfferedFiles
    private var expectations: [Int: Expectation] = [:] {
        didSet {
            guard expectations.isEmpty != oldValue.isEmpty else { return }
            watch.hearsSilent = isExpecting
            onCount?()
        }
    }
    private var nextNumber = 0

    /// Players are those of `watch`, and programs are looked for by `looks`.
    init(_ service: AdapterService, _ watch: PlayerWatch, _ looks: FileLooks, _ files: OfferedFiles) {
        (self.service, self.watch, self.looks, self.files) = (service, watch, looks, files)
        programs = ProgramStarter(service.bus, looks, adapterLog)
    }

    /// Continues something that another device plays.
    /// - Returns: false if the broker is to open the file with what the user opens such files with.
    /// - Throws: why it does not.
    func begin(_ handed: HandedActivity) async throws -> Bool {
        let media = try HandedMedia(handed.properties, handed.userInfo)
        if case .file(_, let path) = media.address { try await check(path) }
        let own = media.application.flatMap { service.isExcluded($0) ? nil : $0 }
        if let own, let player = running(own, for: media) {
            do {
                try await goOn(in: player, media)
                return true
            } catch {
                adapterLog.debug(
                    "The running \(own) does not play it: \(DBusError.converting(error).message)")
                // What it has published on the web, and does not open itself, is nothing for others.
                if case .stream = media.address, KnownPlayer.find(own) == nil { throw error }
            }
        }
        if let own, let known = KnownPlayer.find(own), try await start(known, media, handed.activationToken) {
            return true
        }
        switch media.address {
        case .file:
            followDefault(media)
            return false
        case .stream:
            guard !media.isBound else {
                throw HandoffFailure(
                    .noApplication,
                    tr(
                        "Only the player that plays it on the other device can play it. Start {player} here, and try again.",
                        ["player": media.application?.description ?? ""]))
            }
            try await startAny(media, handed.activationToken)
            return true
        }
    }

    /// A file is played only if it holds sound or moving pictures: a list would have the player open files of this machine.
    private func check(_ path: String) async throws {
        let holdsMedia = try await looks.find(.openedDocument, of: path) { MediaFile.holdsMedia(path) }
        guard !holdsMedia else { return }
        throw HandoffFailure(
            .notSupported,
            tr(
                "The file seems to hold neither sound nor moving pictures, and is not played. Open it "
                    + "yourself if you trust it."))
    }

    /// A player has said something.
    func said(_ player: PlayerObject, _ report: PlayerReport) {
        for (number, one) in expectations {
            guard one.application == nil || one.application == player.application else { continue }
            // Who does not say what it plays is taken at its word that it plays.
            let plays = player.isSilent && one.application != nil && report.status == .playing
            guard one.address == nil || report.address == one.address || plays else { continue }
            expectations[number] = nil
            one.came.come(player)
        }
    }

    private func expect(
        _ address: MediaAddress?, in application: ApplicationID?
    ) -> (number: Int, came: Awaited<PlayerObject?>) {
        nextNumber += 1
        let came = Awaited<PlayerObject?>()
        expectations[nextNumber] = Expectation(application: application, address: address, came: came)
        return (nextNumber, came)
    }

    // MARK: In a player that runs

    private func running(_ application: ApplicationID, for media: HandedMedia) -> PlayerObject? {
        let players = watch.players(of: application).filter { player in
            // What it can read is not known.
            if case .file = media.address { return !player.isSandboxed }
            return true
        }
        return players.first { $0.report?.address == media.address } ?? players.first {
            $0.report?.status != .playing
        }
            ?? players.first
    }

    /// - Parameter attempts: how often it is told. One that has just been started may not listen yet, without saying so.
    private func goOn(in player: PlayerObject, _ media: HandedMedia, attempts: Int = 1) async throws {
        if player.report?.address == media.address, player.report?.status != .stopped {
            return try await place(player, media, since: nil)
        }
        files.give(media.address, to: player.application)
        let expected = expect(media.address, in: player.application)
        defer { expectations[expected.number] = nil }
        for _ in 1...attempts {
            try await player.open(media.address)
            if await expected.came.value(within: Self.opening / attempts) != nil {
                return try await place(player, media, since: nil)
            }
        }
        throw HandoffFailure(
            .applicationFailed,
            tr(
                "{player} did not open it. Open it there, or try again.",
                ["player": player.application.description]))
    }

    /// Has `player` play `media` where that was.
    /// - Parameter start: when it was started at the position, by the clock of the main loop; nil if it was not.
    private func place(_ player: PlayerObject, _ media: HandedMedia, since start: Int64?) async throws {
        if let position = media.position { try await go(player, to: position, since: start) }
        let report = try await player.read()
        if media.isPlaying != (report.status == .playing) {
            if media.isPlaying { try await player.play() } else { try await player.pause() }
        }
    }

    /// Has `player` go to `position`. Just after it has opened something it may say that it plays that, and yet go nowhere
    /// else, without ever saying that it can, or say that it is nowhere: so it is told a few times, if need be.
    private func go(_ player: PlayerObject, to position: Int64, since start: Int64?) async throws {
        let begun = start ?? MainLoop.now
        let last = Instant.now.advanced(by: Self.placing)
        for pause in Self.pauses where Instant.now < last {
            if let now = (try? await player.position()) ?? nil {
                let end = position + (MainLoop.now - begun) + Self.tolerance
                if position - Self.tolerance...end ~= now { return }
            }
            try? await player.go(to: position)
            try await MainLoop.sleep(for: pause)
        }
    }

    // MARK: In a player that has to be started

    /// Starts `known` with `media`.
    /// - Returns: false if it is not installed.
    private func start(_ known: KnownPlayer, _ media: HandedMedia, _ token: String) async throws -> Bool {
        let id = try ApplicationID(known.application)
        let program = try await looks.find(.starting, of: known.application) {
            PlayerEntry.program(of: known)
        }
        guard let program else { return false }
        let launch = Launch(
            id, program: program, arguments: known.arguments(for: media), activationToken: token)
        files.give(media.address, to: id)
        let expected = expect(known.isToldLater ? nil : media.address, in: id)
        defer { expectations[expected.number] = nil }
        try await run(launch, media, known, expected.came)
        return true
    }

    private func run(
        _ launch: Launch, _ media: HandedMedia, _ known: KnownPlayer, _ came: Awaited<PlayerObject?>
    ) async throws {
        let begun = MainLoop.now
        let time = known.beginsAtPosition ? Self.briefly : Self.starting
        try await programs.running(launch) { program in
            defer { program.release() }
            let failed = Awaited<ProgramEnd>()
            MainLoop.start {
                // One that ends well has handed over to another one.
                guard let end = await program.end(within: time), !end.isSuccess else { return }
                failed.come(end)
                came.come(nil)
            }
            let player = await came.value(within: time) ?? nil
            if let end = failed.value { throw await program.failure(end, " instead of playing it") }
            guard let player else {
                adapterLog.debug("\(launch.application) does not say where it is.")
                return
            }
            if known.isToldLater { return try await goOn(in: player, media, attempts: 4) }
            do {
                try await place(player, media, since: known.beginsAtPosition ? begun : nil)
            } catch {
                let reason = DBusError.converting(error).message
                adapterLog.debug("\(launch.application) does not go where it was: \(reason)")
            }
        }
    }

    /// Starts whichever known player is installed, or else the web browser, with a stream.
    private func startAny(_ media: HandedMedia, _ token: String) async throws {
        for known in KnownPlayer.all {
            guard let id = try? ApplicationID(known.application), !service.isExcluded(id) else { continue }
            if try await start(known, media, token) { return }
        }
        let program = try await looks.find(.starting) { PlayerEntry.browserOpener }
        guard let program else {
            throw HandoffFailure(
                .noApplication,
                tr("No program installed here plays it. Install a media player, such as mpv or VLC."))
        }
        let launch = Launch(
            try ApplicationID(HandoffNames.mediaAdapter.text), program: program,
            arguments: [PlayerEntry.browserOpenerName, media.address.argument], activationToken: token)
        try await programs.running(launch) { program in
            try await program.check(within: .seconds(1), " instead of opening it")
        }
    }

    /// The broker opens the file with what the user opens such files with; it goes to its place when it says that it plays.
    private func followDefault(_ media: HandedMedia) {
        let expected = expect(media.address, in: nil)
        MainLoop.start { [weak self] in
            let player = await expected.came.value(within: Self.starting) ?? nil
            self?.expectations[expected.number] = nil
            guard let self, let player else { return }
            files.give(media.address, to: player.application)
            try? await place(player, media, since: nil)
        }
    }
}
