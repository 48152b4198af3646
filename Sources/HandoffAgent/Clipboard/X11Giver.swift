// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffInterfaces
internal import MainLoop

/// Owns the clipboard, and gives its content to the clients that ask for it. They may vanish, or never take what they have asked
/// for.
@MainLoop
final class X11Giver {
    private let connection: X11ClipboardConnection
    private var offer: Offer?
    /// When we have taken the clipboard for the last time, as the display says; nil if we do not have it.
    private var time: UInt32?
    /// Counts how often the clipboard was to be taken or given up.
    private var number = 0
    /// How often the display is still to say what time it is.
    private var openStamps = 0
    private var transfers: [Int: Transfer] = [:]
    /// When a second began, in microseconds of ``MainLoop/now``, and how often something was asked for since.
    private var (second, asked): (Int64, Int) = (0, 0)
    private var lastTransfer = 0
    /// The types that the display was told of: it never forgets a name.
    private var names: Set<String> = []

    /// How many clients are given something at a time.
    private static let maximum = 32
    /// How often is answered within a second.
    private static let maximumAsked = 500
    private static let maximumNames = 1024
    /// For how many microseconds a client need not take what it is given.
    private static let patience: Int64 = 5_000_000

    /// What we have, or are taking the clipboard for.
    private struct Offer {
        let provide: ClipboardProvider
        /// Called with whether we have got the clipboard.
        let taken: @MainLoop (Bool) -> Void
        var types: [(atom: UInt32, name: String)] = []
    }

    /// What a client is given.
    private struct Transfer {
        let request: X11Request
        var pieces: Pieces?
    }

    /// A content that is given in pieces.
    private struct Pieces {
        let file: ClipboardFile
        var sending: X11Sending
        let deadline: X11Deadline
    }

    /// One that gives by this connection.
    init(_ connection: X11ClipboardConnection) { self.connection = connection }

    // MARK: Owning

    /// Takes the clipboard; `taken` is called with whether we have got it, unless this or ``giveUp()`` is called before.
    func own(
        _ types: [String], _ provide: @escaping ClipboardProvider,
        _ taken: @escaping @MainLoop (Bool) -> Void
    ) {
        number += 1
        let number = number
        offer = Offer(provide: provide, taken: taken)
        for type in types.prefix(ClipboardTypes.maximum)
        where !type.isEmpty && type.utf8.count <= ClipboardTypes.maximumLength {
            let isMade = names.contains(type) || names.count < Self.maximumNames
            if isMade { names.insert(type) }
            connection.atom(of: type, isMade: isMade) { [weak self] atom in
                guard let self, let atom, self.number == number else { return }
                offer?.types.append((atom, type))
            }
        }
        openStamps += 1
        connection.stamp()
    }

    /// The display has said what time it is.
    func stamped(_ time: UInt32) {
        guard openStamps > 0 else { return }
        openStamps -= 1
        // Before the last one comes, not all types have their numbers.
        guard openStamps == 0, offer != nil else { return }
        self.time = time
        connection.setOwned(true, at: time)
        let number = number
        connection.owner { [weak self] owner in
            guard let self, self.number == number else { return }
            offer?.taken(owner == connection.window)
        }
    }

    /// We have the clipboard no longer. Those that are given something get it still.
    func ceased() { (offer, time) = (nil, nil) }

    /// Gives the clipboard up, if we have it or are taking it.
    func giveUp() {
        number += 1
        if let time { connection.setOwned(false, at: time) }
        ceased()
    }

    // MARK: Giving

    /// Another client asks for something.
    func requested(_ request: X11Request) {
        // Who floods gets no answer: answers that nobody reads would pile up, and keep others waiting.
        if MainLoop.now - second > 1_000_000 { (second, asked) = (MainLoop.now, 0) }
        asked += 1
        guard asked <= Self.maximumAsked else { return }
        guard request.requestor != connection.window, request.selection == connection.atoms.clipboard,
            let offer
        else { return connection.answer(request, isGiven: false) }
        let atoms = connection.atoms
        if request.target == atoms.targets {
            connection.write(
                atoms: [atoms.targets, atoms.timestamp] + offer.types.map(\.atom), for: request)
            connection.answer(request, isGiven: true)
        } else if request.target == atoms.timestamp {
            connection.write(time: time ?? 0, for: request)
            connection.answer(request, isGiven: true)
        } else if let type = offer.types.first(where: { $0.atom == request.target })?.name {
            give(request, as: type, offer.provide)
        } else {
            connection.answer(request, isGiven: false)
        }
    }

    private func give(_ request: X11Request, as type: String, _ provide: @escaping ClipboardProvider) {
        // A client that asks once more into the same property has given up what it asked for before.
        for (id, transfer) in transfers
        where transfer.request.requestor == request.requestor && transfer.request.property == request.property
        {
            end(id)
        }
        guard transfers.count < Self.maximum else { return connection.answer(request, isGiven: false) }
        lastTransfer += 1
        let id = lastTransfer
        transfers[id] = Transfer(request: request)
        MainLoop.start { [weak self] in
            let file = await provide(type)
            self?.provided(file, for: id)
        }
    }

    private func provided(_ file: ClipboardFile?, for id: Int) {
        guard let request = transfers[id]?.request else { return }
        guard let file else { return refuse(id, request) }
        if file.size <= connection.pieceSize {
            guard let bytes = try? file.bytes() else { return refuse(id, request) }
            connection.write(bytes, as: request.target, for: request)
            transfers[id] = nil
        } else {
            let deadline = X11Deadline(patience: Self.patience) { [weak self] in self?.end(id) }
            transfers[id]?.pieces = Pieces(
                file: file, sending: X11Sending(size: file.size, pieceSize: connection.pieceSize),
                deadline: deadline)
            connection.follow(request.requestor, true)
            connection.write(sizeOfPieces: file.size, for: request)
        }
        connection.answer(request, isGiven: true)
    }

    private func refuse(_ id: Int, _ request: X11Request) {
        transfers[id] = nil
        connection.answer(request, isGiven: false)
    }

    /// A property of another client's window was deleted: what was in it is taken.
    func deleted(_ property: UInt32, of window: UInt32) {
        let found = transfers.first {
            $0.value.pieces != nil && $0.value.request.requestor == window
                && $0.value.request.property == property
        }
        guard let (id, transfer) = found, var pieces = transfer.pieces else { return }
        guard let range = pieces.sending.next(), let bytes = try? pieces.file.bytes(in: range) else {
            return end(id)
        }
        pieces.deadline.progressed()
        transfers[id]?.pieces = pieces
        connection.write(bytes, as: transfer.request.target, for: transfer.request)
        if pieces.sending.hasEnded { end(id) }
    }

    private func end(_ id: Int) {
        guard let transfer = transfers.removeValue(forKey: id), transfer.pieces != nil else { return }
        let window = transfer.request.requestor
        let isFollowed = transfers.values.contains { $0.pieces != nil && $0.request.requestor == window }
        if !isFollowed { connection.follow(window, false) }
    }
}
