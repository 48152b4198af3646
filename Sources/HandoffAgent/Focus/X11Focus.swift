// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffClient
internal import HandoffSession
internal import MainLoop
internal import Platform

/// Where the user works, as the window manager of an X11 session tells (`_NET_ACTIVE_WINDOW`, Extended Window Manager Hints).
///
/// Nothing here waits for the display, and nothing is asked unless it says that something has changed. However often that
/// happens, it is asked at most ten times a second.
@MainLoop
final class X11Focus: FocusSource {
    private(set) var window: FocusedWindow?
    private(set) var isTelling = false
    var onFocusChange: (@MainLoop () -> Void)?
    /// The applications whose windows are known by their classes.
    var classes = X11Classes() {
        didSet { if classes != oldValue, let properties { described(properties) } }
    }

    private var connection: X11Connection?
    private var source: DescriptorSource?
    private var properties: [X11Window.Property: [UInt8]]?
    private let machine = X11Focus.hostName()
    /// Whether it is to be connected.
    private var isWanted = false
    /// Whether a thread connects, which may take for ever.
    private var isConnecting = false
    private let repetition = Repetition()
    /// Whether something has changed since it was asked.
    private var isOutdated = false
    /// While this runs, nothing is asked.
    private var pause: LoopSource?

    private static let interval = Duration.milliseconds(100)
    /// How often connecting is tried again, without another reason, after the display was lost: a session without one is not
    /// to be woken for ever.
    private static let maximumAttempts = 5

    /// For the display that the environment names.
    init() {}

    /// Whether the session is one whose windows are all on X11.
    nonisolated static var isX11: Bool {
        let display = getenv("DISPLAY").map { String(cString: $0) } ?? ""
        let kind = getenv("XDG_SESSION_TYPE").map { String(cString: $0) } ?? ""
        return !display.isEmpty && kind != "wayland" && getenv("WAYLAND_DISPLAY") == nil
    }

    /// Follows the display from now on.
    func begin() {
        guard !isWanted else { return }
        isWanted = true
        repetition.end()
        connect()
    }

    /// Follows it no longer.
    func end() {
        isWanted = false
        repetition.end()
        forget()
    }

    private func forget() {
        source = nil
        connection = nil
        pause = nil
        isOutdated = false
        properties = nil
        tell(nil, isTelling: false)
    }

    // MARK: Connecting

    private func connect() {
        guard isWanted, connection == nil, !isConnecting else { return }
        do {
            isConnecting = true
            try BackgroundThread.start("display") {
                let connection = X11Connection()
                MainLoop.start { [weak self] in self?.connected(connection) }
            }
        } catch {
            isConnecting = false
            again()
        }
    }

    private func connected(_ new: X11Connection?) {
        isConnecting = false
        guard isWanted else { return }
        guard let new else {
            agentLog.debug("The display does not say which window is active.")
            return again()
        }
        connection = new
        source = DescriptorSource(new.descriptor, .readable) { [weak self] _ in self?.take() }
        isOutdated = true
        // What has arrived with the answers to the first questions makes the descriptor readable no more.
        take()
    }

    private func again() {
        repetition.repeatLater(atMost: Self.maximumAttempts) { [weak self] in self?.connect() }
    }

    // MARK: Following

    private func take() {
        repeat { for answer in connection?.takeAnswers() ?? [] { take(answer) } } while ask()
        guard let connection, connection.isBroken else { return }
        agentLog.info("The display is gone.")
        forget()
        again()
    }

    private func take(_ answer: X11Connection.Answer) {
        // What is lost with a connection is no answer.
        if repetition.count > 0, answer != .changed, connection?.isBroken == false {
            // Only a display that answers is there again: any other may take connections and lose them without end.
            repetition.end()
        }
        switch answer {
        case .changed: isOutdated = true
        case .active(nil): described([:])
        case .active(let window?): connection?.askProperties(window)
        case .unknown: tell(nil, isTelling: false)
        case .properties(let properties): described(properties)
        }
    }

    /// Asks which window is active, if that may have changed.
    /// - Returns: whether it was asked. Sending may have read something that the descriptor does not tell of any more.
    private func ask() -> Bool {
        guard isOutdated, pause == nil, let connection, !connection.isAsking else { return false }
        isOutdated = false
        pause = .timer(after: Self.interval) { [weak self] in
            self?.pause = nil
            self?.take()
        }
        connection.askActive()
        return true
    }

    private func described(_ properties: [X11Window.Property: [UInt8]]) {
        self.properties = properties
        tell(X11Window.described(by: properties, classes, machine: machine), isTelling: true)
    }

    private func tell(_ window: FocusedWindow?, isTelling: Bool) {
        guard window != self.window || isTelling != self.isTelling else { return }
        (self.window, self.isTelling) = (window, isTelling)
        onFocusChange?()
    }

    private static func hostName() -> String {
        var name = [CChar](repeating: 0, count: 256)
        return gethostname(&name, name.count - 1) == 0
            ? String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
    }
}
