// SPDX-License-Identifier: LGPL-2.1-or-later

/// What the broker keeps for its clients, counted for each connection, for each process, and in all, so that
/// nobody gets more by connecting more often.
///
/// The process is the one that the bus names. Connections whose process is unknown count together as one
/// process, so that hiding it gains nothing.
package struct ClientHoldings: Sendable {
    private enum Process: Hashable {
        case number(UInt32)
        case unknown
    }

    private struct Client {
        let process: Process
        var payload = 0
        var declaration = Declared()
    }

    private struct Group {
        var connections: Set<String> = []
        var activities = 0
        var types = 0
        var payload = 0
    }

    /// What an application says of itself when it registers.
    package struct Declared: Equatable, Sendable {
        /// How many activity and document types.
        package let types: Int
        /// How many bytes the names of these types and of the declared hosts take.
        package let bytes: Int

        /// A declaration of this size, by default an empty one.
        package init(types: Int = 0, bytes: Int = 0) {
            self.types = types
            self.bytes = bytes
        }
    }

    private var clients: [String: Client] = [:]
    private var groups: [Process: Group] = [:]
    /// How much is kept for everybody together, in bytes.
    package private(set) var total = 0

    /// Nobody has anything.
    package init() {}

    /// `connection` belongs to the process `number`, which is nil if it is unknown, for as long as it is on
    /// the bus. To be called before anything is kept for it.
    package mutating func joined(_ connection: String, process number: UInt32?) {
        guard clients[connection] == nil else { return }
        let process = number.map(Process.number) ?? .unknown
        clients[connection] = Client(process: process)
        groups[process, default: Group()].connections.insert(connection)
    }

    /// `connection` has left the bus, after its activities have ended.
    package mutating func left(_ connection: String) {
        guard let client = clients.removeValue(forKey: connection), var group = groups[client.process] else {
            return
        }
        total -= client.payload + client.declaration.bytes
        group.payload -= client.payload
        group.types -= client.declaration.types
        group.connections.remove(connection)
        groups[client.process] = group.connections.isEmpty ? nil : group
    }

    /// All connections of the process of `connection`, which is one of them.
    package func relatives(of connection: String) -> Set<String> {
        clients[connection].flatMap { groups[$0.process]?.connections } ?? [connection]
    }

    // MARK: What is kept

    /// What an activity whose properties take `size` bytes counts as.
    package static func cost(_ size: Int) -> Int { max(size, Quota.smallestActivity) }

    /// `connection` is to have another activity, whose properties take `size` bytes.
    ///
    /// Fails with `limitsExceeded` if that is too much; then nothing has changed.
    package mutating func begin(_ size: Int, of connection: String) throws(HandoffFailure) {
        if let client = clients[connection], let group = groups[client.process],
            group.activities >= Quota.activities * Quota.processes
        {
            throw .tooMany(
                "activities of one process", limit: Quota.activities * Quota.processes,
                advice: "Invalidate those that are no longer needed.")
        }
        try change(by: Self.cost(size), of: connection)
        count(1, of: connection)
    }

    /// The properties of an activity of `connection`, which took `former` bytes, are to take `size`.
    ///
    /// Fails with `limitsExceeded` if that is too much; then nothing has changed.
    package mutating func change(from former: Int, to size: Int, of connection: String) throws(HandoffFailure)
    {
        let bytes = Self.cost(size) - Self.cost(former)
        if bytes != 0 { try change(by: bytes, of: connection) }
    }

    /// An activity of `connection`, whose properties take `size` bytes, has ended.
    package mutating func end(_ size: Int, of connection: String) {
        add(-Self.cost(size), to: connection)
        count(-1, of: connection)
    }

    /// `connection` is to have this declaration in place of the one before.
    ///
    /// Fails with `limitsExceeded` if that is too much; then nothing has changed.
    package mutating func declare(_ declaration: Declared, of connection: String) throws(HandoffFailure) {
        guard let client = clients[connection], let group = groups[client.process] else { return }
        let types = group.types + declaration.types - client.declaration.types
        guard declaration.types <= client.declaration.types || types <= Quota.types * Quota.processes else {
            throw .tooMany(
                "activity and document types of one process", limit: Quota.types * Quota.processes,
                advice: "Declare fewer, and tell kinds of activity apart by their UserInfo.")
        }
        try checkTotal(adding: declaration.bytes - client.declaration.bytes)
        total += declaration.bytes - client.declaration.bytes
        clients[connection]?.declaration = declaration
        groups[client.process]?.types = types
    }

    // MARK: Counting

    private mutating func change(by bytes: Int, of connection: String) throws(HandoffFailure) {
        // Taking less is always allowed.
        if bytes > 0, let client = clients[connection], let group = groups[client.process] {
            try Self.check(client.payload + bytes, "one connection", limit: Quota.payload)
            try Self.check(
                group.payload + bytes, "all connections of one process", limit: Quota.payloadOfProcess)
        }
        try checkTotal(adding: bytes)
        add(bytes, to: connection)
    }

    private func checkTotal(adding bytes: Int) throws(HandoffFailure) {
        guard bytes > 0, total + bytes > Quota.payloadOfAll else { return }
        throw HandoffFailure(
            .limitsExceeded,
            "The activities of all applications take \(total) bytes, and with \(bytes) more would exceed the"
                + " \(Quota.payloadOfAll) allowed. End applications that are not needed, then try again.")
    }

    private static func check(_ bytes: Int, _ whose: String, limit: Int) throws(HandoffFailure) {
        guard bytes > limit else { return }
        throw HandoffFailure(
            .limitsExceeded,
            "The activities of \(whose) would take \(bytes) bytes, more than the \(limit) allowed. Invalidate those"
                + " that are no longer needed, or send what is large through a stream.")
    }

    private mutating func add(_ bytes: Int, to connection: String) {
        guard let process = clients[connection]?.process else { return }
        total += bytes
        clients[connection]?.payload += bytes
        groups[process]?.payload += bytes
    }

    private mutating func count(_ number: Int, of connection: String) {
        if let process = clients[connection]?.process { groups[process]?.activities += number }
    }
}
