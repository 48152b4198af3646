// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// Reads what other clients have in the clipboard, one thing after another. An owner may do anything, and may take only so long.
@MainLoop
final class X11Reader {
    private let connection: X11ClipboardConnection
    private var running: X11Read?
    private var waiting: [X11Read] = []
    /// Counts the properties that were used.
    private var used = 0

    /// How many contents wait to be read at most.
    private static let maximum = 16
    /// How many bytes the list of targets has at most.
    private static let maximumTargets = 64 << 10

    /// One that reads by this connection.
    init(_ connection: X11ClipboardConnection) { self.connection = connection }

    /// Reads the content as this type.
    /// - Throws: `LimitsExceeded` if it is too large, or too much is read already; `OfferWithdrawn` if it does not come.
    func read(_ type: String, at time: UInt32) async throws -> ClipboardFile {
        guard waiting.count < Self.maximum else { throw ClipboardPipe.busy }
        let reading = X11Reading(
            incremental: connection.atoms.incremental, format: 8, maximum: ClipboardFile.maximum)
        return try await withCheckedThrowingContinuation { continuation in
            add(
                X11Read(.named(type), at: time, reading, patience: 5_000_000) {
                    continuation.resume(with: $0)
                })
        }
    }

    /// Reads the atoms of what the content can be had as; `body` gets none if the owner does not say it.
    func readTargets(at time: UInt32, _ body: @escaping @MainLoop ([UInt32]) -> Void) {
        let reading = X11Reading(
            incremental: connection.atoms.incremental, format: 32, maximum: Self.maximumTargets)
        add(
            X11Read(.atom(connection.atoms.targets), at: time, reading, patience: 2_000_000) {
                body(Self.atoms((try? $0.get().bytes()) ?? []))
            })
    }

    private static func atoms(_ bytes: [UInt8]) -> [UInt32] {
        bytes.withUnsafeBytes { bytes in
            (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
        }
    }

    /// Gives up all that is read or waits for that.
    func abandon() {
        let all = (running.map { [$0] } ?? []) + waiting
        (running, waiting) = (nil, [])
        for read in all { read.end(.failure(ClipboardPipe.unfinished)) }
    }

    /// The owner has answered.
    func converted(_ answer: X11Answer) {
        if let running, running.atom == answer.target,
            // What refuses names no property, and may be an answer to a question from before.
            answer.property == running.property || (answer.property == 0 && answer.time == running.time)
        {
            running.deadline?.progressed()
            let actions = running.reading.answered(isGiven: answer.property != 0)
            act(actions, running)
        } else if answer.property != running?.property, connection.atoms.properties.contains(answer.property)
        {
            // It comes too late. The display need not keep it.
            connection.delete(answer.property)
        }
    }

    /// A property of our window was written.
    func written(_ property: UInt32) {
        guard let running, running.property == property else { return }
        let actions = running.reading.written()
        act(actions, running)
    }

    private func add(_ read: X11Read) {
        waiting.append(read)
        next()
    }

    private func next() {
        guard running == nil, !waiting.isEmpty else { return }
        let read = waiting.removeFirst()
        running = read
        let properties = connection.atoms.properties
        read.property = properties[used % properties.count]
        used += 1
        read.deadline = X11Deadline(patience: read.patience) { [weak self, weak read] in
            if let self, let read { end(read, .failure(ClipboardPipe.unfinished)) }
        }
        switch read.target {
        case .atom(let atom): convert(read, atom)
        case .named(let name):
            connection.atom(of: name, isMade: false) { [weak self, weak read] atom in
                guard let self, let read, running === read else { return }
                // What has no number, nobody can have.
                guard let atom else { return end(read, .failure(ClipboardPipe.unfinished)) }
                convert(read, atom)
            }
        }
    }

    private func convert(_ read: X11Read, _ atom: UInt32) {
        read.atom = atom
        connection.convert(to: atom, into: read.property, at: read.time)
    }

    private func act(_ actions: [X11Reading.Action], _ read: X11Read) {
        for action in actions where running === read {
            switch action {
            case .fetch(let offset):
                connection.property(read.property, at: offset) { [weak self, weak read] part in
                    guard let self, let read, running === read else { return }
                    let actions = read.reading.came(part)
                    act(actions, read)
                }
            case .keep(let bytes):
                read.deadline?.progressed()
                do throws(HandoffFailure) {
                    try read.append(bytes)
                } catch {
                    end(read, .failure(error))
                }
            case .delete: connection.delete(read.property)
            case .finish: end(read, read.finish())
            case .fail(.tooLarge): end(read, .failure(ClipboardFile.tooLarge))
            case .fail(.refused), .fail(.broken): end(read, .failure(ClipboardPipe.unfinished))
            }
        }
    }

    private func end(_ read: X11Read, _ outcome: Result<ClipboardFile, HandoffFailure>) {
        guard running === read else { return }
        running = nil
        read.end(outcome)
        next()
    }
}

/// One thing that is read.
@MainLoop
private final class X11Read {
    /// What it is read as.
    enum Target {
        /// What has this name.
        case named(String)
        /// What has this number.
        case atom(UInt32)
    }

    let target: Target
    let time: UInt32
    let patience: Int64
    var reading: X11Reading
    /// The property that it is read from.
    var property: UInt32 = 0
    /// The number of the target; 0 as long as it is not asked for.
    var atom: UInt32 = 0
    var deadline: X11Deadline?
    private var writer: ClipboardFile.Writer?
    private var body: (@MainLoop (Result<ClipboardFile, HandoffFailure>) -> Void)?

    init(
        _ target: Target, at time: UInt32, _ reading: X11Reading, patience: Int64,
        _ body: @escaping @MainLoop (Result<ClipboardFile, HandoffFailure>) -> Void
    ) {
        (self.target, self.time, self.patience) = (target, time, patience)
        (self.reading, self.body) = (reading, body)
    }

    /// Adds what was read.
    func append(_ bytes: [UInt8]) throws(HandoffFailure) {
        var writer = try takenWriter()
        do {
            try bytes.withUnsafeBytes { try writer.append($0) }
        } catch {
            throw error as? HandoffFailure ?? ClipboardPipe.unfinished
        }
        self.writer = consume writer
    }

    /// What was added.
    func finish() -> Result<ClipboardFile, HandoffFailure> {
        do throws(HandoffFailure) {
            return .success(try takenWriter().finish())
        } catch {
            return .failure(error)
        }
    }

    private func takenWriter() throws(HandoffFailure) -> ClipboardFile.Writer {
        switch writer.take() {
        case .some(let former): return former
        case .none: return try ClipboardFile.Writer()
        }
    }

    /// Tells the outcome. Only the first counts.
    func end(_ outcome: Result<ClipboardFile, HandoffFailure>) {
        deadline = nil
        let body = self.body
        self.body = nil
        body?(outcome)
    }
}
