// SPDX-License-Identifier: LGPL-2.1-or-later
package import MainLoop

/// Messages over a socket, whatever is at its other end: a bus, another daemon, another device.
///
/// It reads and writes when the socket can, cuts what comes into messages, numbers those that leave, and lets them wait as
/// bytes. It ends in one place, with one reason.
@MainLoop
package final class SocketChannel {
    /// How long what was sent may take to leave before the channel is closed all the same.
    private static let closingTime = Duration.seconds(1)
    /// What is read goes here first, whatever channel it comes by.
    private static let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    /// Whoever uses it; without an owner it takes nothing.
    package weak var owner: (any ChannelOwner)?
    /// Whether so much waits to be sent that nothing should be done which adds to it.
    package private(set) var isCrowded = false
    package private(set) var isClosed = false
    /// How many more bytes are taken before it ends; nil for no limit.
    package var allowance: Int?

    private let transport: any Transport
    private let limits: Limits
    private var framer: Framer
    private var outgoing: OutgoingBytes
    private var serial: UInt32
    private var (readSource, writeSource): (AnyObject?, AnyObject?)
    /// The read that follows once others have had their turn.
    private var soon: LoopSource?
    /// Whether a read was asked for, and not let in yet.
    private var isWaitingForAdmission = false
    /// Whether reading has begun, and not ended.
    private var isReading = false
    /// Whether the other side takes nothing more. What it has sent before still counts.
    private var isUnwritable = false
    /// Ends the channel once all has left, and then whatever has.
    private var closing: LoopSource?
    private var onSent: (@MainLoop () -> Void)?
    /// Ends the channel when half a message has come and no more for too long.
    private var stall: LoopSource?
    private var lastRead: Int64 = 0

    /// The channel over `transport`. Nothing is read before ``begin()``.
    package convenience init(_ transport: any Transport, _ limits: Limits) {
        self.init(transport, limits, Framer(limits.frames), serial: 0)
    }

    /// The same, of which `framer` has something already, and on which `serial` was the last number that was used.
    init(_ transport: any Transport, _ limits: Limits, _ framer: consuming Framer, serial: UInt32) {
        (self.transport, self.limits, self.serial) = (transport, limits, serial)
        self.framer = framer
        outgoing = OutgoingBytes(pieceSize: transport.pieceSize)
    }

    isolated deinit { if !isClosed { transport.close() } }

    /// Begins to read.
    package func begin() {
        isReading = true
        readSoon()
    }

    // MARK: The end

    /// Ends the channel from this side. Nothing that is unread counts, and nobody is told.
    package func close() { close { $0.close() } }

    private func close(_ end: (any Transport) -> Void) {
        guard !isClosed else { return }
        isClosed = true
        stopReading()
        (writeSource, closing, onSent) = (nil, nil, nil)
        isCrowded = false
        framer = Framer(limits.frames)
        outgoing = OutgoingBytes(pieceSize: 1)
        end(transport)
    }

    private func end(_ reason: End) {
        guard !isClosed else { return }
        close()
        owner?.ended(reason)
    }

    /// Reads no more, and ends the channel in order as soon as all that was sent has left, or a second later; then calls `done`.
    package func closeWhenSent(_ done: @escaping @MainLoop () -> Void) {
        stopReading()
        if outgoing.isEmpty {
            close { $0.finish() }
            return done()
        }
        onSent = { [weak self] in
            self?.close { $0.finish() }
            done()
        }
        closing = .timer(after: Self.closingTime) { [weak self] in
            self?.close()
            done()
        }
    }

    /// What is there already is the last that is taken; then the channel ends.
    package func endInput() {
        transport.endInput()
        stopWriting()
    }

    /// Whoever sends, or reads, must not find everything changed when that returns. What came before takes effect first, in the
    /// tasks that were started for it.
    private func endSoon(_ reason: End) {
        stopReading()
        if outgoing.count > limits.comfortable {
            // What waits to be served does not wait for what is never going to leave.
            isUnwritable = true
            outgoing = OutgoingBytes(pieceSize: 1)
            updateCrowding()
        }
        owner?.settle { [weak self] in self?.end(reason) }
    }

    private func stopReading() {
        isReading = false
        (readSource, soon, stall) = (nil, nil, nil)
    }

    // MARK: Receiving

    private var isResting: Bool {
        !isReading || limits.restsWhileCrowded && isCrowded || owner?.isHeldUp != false
    }

    /// Reads again, if that rests and need not any longer.
    package func goOn() { if readSource == nil, !isWaitingForAdmission, !isResting { readSoon() } }

    /// Reads as soon as others on the main loop have had their turn, even if the socket shows nothing to read: there may be
    /// something in a buffer.
    private func readSoon() {
        readSource = nil
        guard soon == nil, isReading else { return }
        soon = .soon { [weak self] in
            self?.soon = nil
            self?.askToRead()
        }
    }

    private func askToRead() {
        guard let owner, !isWaitingForAdmission, isReading else { return }
        // What was asked before comes first: its time is not counted yet.
        guard MainLoop.waitingJobs <= limits.waitingJobs else { return readSoon() }
        isWaitingForAdmission = true
        let isNow = owner.admitReading { [weak self] in
            self?.isWaitingForAdmission = false
            self?.read()
            CallTurns.shared.heard()
        }
        // The kernel keeps what comes until it is read.
        if !isNow { readSource = nil }
    }

    private func read() {
        let end = MainLoop.now + (owner?.readingTime ?? 0)
        var (isDrained, count) = (false, 0)
        repeat {
            do throws(DBusError) {
                while !isResting, let message = try framer.next(judge) {
                    try owner?.received(message)
                    // There may be more in the buffer, which the socket does not show.
                    if MainLoop.now >= end { return readSoon() }
                }
            } catch {
                return self.end(.violation(error.message))
            }
            guard !isResting else {
                readSource = nil
                return
            }
            if isDrained {
                let lingers = count >= Self.buffer.count && MainLoop.now < end && owner?.canLinger == true
                guard lingers else { return waitForMore() }
                transport.awaitInput()
            }
            guard let (read, mayBeMore) = transfer() else { return }
            count += read
            isDrained = !mayBeMore
        } while isDrained || MainLoop.now < end
        readSoon()
    }

    private func judge(_ message: Message) throws(DBusError) -> Framer.Verdict {
        try owner?.judge(message) ?? .take
    }

    /// Reads once, into what is cut into messages.
    /// - Returns: how many bytes, and whether there may be more; nil if nothing came.
    private func transfer() -> (Int, Bool)? {
        var descriptors: [Int32] = []
        switch transport.read(into: Self.buffer, &descriptors) {
        case .bytes(let count):
            if limits.patience != nil { lastRead = MainLoop.now }
            allowance? -= count
            if let left = allowance, left < 0 {
                end(.violation("it sent more than a device may that is not paired"))
                return nil
            }
            framer.add(UnsafeRawBufferPointer(rebasing: Self.buffer[..<count]), descriptors)
            // What was there when nothing could be written any longer is read to its end.
            return (count, count == Self.buffer.count || !transport.isDrainedByShortRead || isUnwritable)
        case .wouldBlock: waitForMore()
        case .ended(let inOrder): endSoon(.closed(inOrder: inOrder))
        case .failed(let why): endSoon(.broken(why))
        }
        return nil
    }

    private func waitForMore() {
        if isUnwritable { return endSoon(.broken("the other side takes nothing more")) }
        if readSource == nil { readSource = transport.whenReadable { [weak self] in self?.askToRead() } }
        watchRest()
    }

    /// Whoever sends half a message has to go on with it.
    private func watchRest() {
        guard let patience = limits.patience else { return }
        guard framer.isWithinMessage else {
            stall = nil
            return
        }
        if stall == nil { wait(for: patience) }
    }

    private func wait(for time: Duration) {
        stall = .timer(after: time) { [weak self] in self?.checkRest() }
    }

    private func checkRest() {
        stall = nil
        guard let patience = limits.patience, isReading, framer.isWithinMessage else { return }
        // Only who could have been read has been silent.
        if isResting || isWaitingForAdmission || soon != nil { return wait(for: patience) }
        let left = patience - .microseconds(MainLoop.now - lastRead)
        guard left <= .zero else { return wait(for: left) }
        // The rest may have come while this process was stopped.
        let former = lastRead
        askToRead()
        guard isReading, framer.isWithinMessage else { return }
        if lastRead != former || soon != nil || isWaitingForAdmission {
            if stall == nil { wait(for: .milliseconds(100)) }
            return
        }
        end(.violation("it has sent part of a message, and no more for \(patience)"))
    }

    // MARK: Sending

    /// Numbers `message`, unless it has a number, and sends it, or lets it wait.
    /// - Parameter limit: how many bytes it may take.
    /// - Returns: its number.
    /// - Throws: `Disconnected` if the channel has ended; `LimitsExceeded` if the message is longer.
    package func send(_ message: Message, limit: Int = Message.maximumLength) throws(DBusError) -> UInt32 {
        guard !isClosed, !isUnwritable, onSent == nil else {
            throw DBusError(.disconnected, "The connection has ended.")
        }
        guard message.descriptors.isEmpty || transport.takesDescriptors else {
            throw Message.descriptorRefused
        }
        if message.serial == 0 {
            serial = serial == .max ? 1 : serial + 1
            message.setSerial(serial)
        }
        let bytes = try message.marshal(limit: limit)
        let former = outgoing.count
        outgoing.append(message, bytes)
        if let most = limits.unsent, former > 0, outgoing.count > most {
            endSoon(.violation("it does not read what it is sent"))
            throw DBusError(
                .disconnected, "The connection has ended: the other side does not read what it is sent.")
        }
        // What waits already is written when there is room, in order.
        if former == 0 { flush() } else { updateCrowding() }
        return message.serial
    }

    /// Sends what waits before it returns, unless that takes until `deadline`, in microseconds of ``MainLoop/now``; for the end
    /// of a program.
    package func flush(until deadline: Int64) {
        while !isClosed, !outgoing.isEmpty, MainLoop.now < deadline {
            transport.awaitRoom(until: deadline)
            flush()
        }
    }

    private func flush() {
        var canGoOn = true
        while !isClosed, canGoOn, !outgoing.isEmpty {
            let transport = transport
            var isBroken = false
            let wrote = outgoing.write { bytes, message in
                switch transport.write(bytes, message?.descriptors ?? []) {
                case .bytes(let count): return count
                case .wouldBlock: return nil
                case .failed(let why):
                    // Most likely it is for the descriptors; if not, the next piece fails too.
                    if let message {
                        MainLoop.start { [weak owner] in owner?.notSent(message, why) }
                        return message.marshalledSize
                    }
                case .ended: break
                }
                isBroken = true
                return nil
            }
            if isBroken { return stopWriting() }
            canGoOn = wrote
        }
        if outgoing.isEmpty {
            writeSource = nil
            onSent?()
        } else if writeSource == nil {
            writeSource = transport.whenWritable { [weak self] in self?.flush() }
        }
        updateCrowding()
    }

    /// The other side takes nothing more, most likely because it is gone. What it has sent before is read first.
    private func stopWriting() {
        guard !isClosed else { return }
        isUnwritable = true
        writeSource = nil
        outgoing = OutgoingBytes(pieceSize: 1)
        if let onSent { return onSent() }
        // Nobody who sends is to find that messages have been taken when that returns.
        MainLoop.charge(nil) {
            _ = MainLoop.start { [weak self] in
                self?.updateCrowding()
                self?.readSource = nil
                self?.askToRead()
            }
        }
    }

    private func updateCrowding() {
        guard isCrowded != (outgoing.count > limits.comfortable) else { return }
        isCrowded.toggle()
        // Others are heard before what waits is served.
        if !isCrowded, !isResting { readSoon() } else if !isCrowded { CallTurns.shared.goOn() }
        owner?.crowdingChanged()
    }
}
