// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

extension Broker {
    /// Takes in a registration of `caller`, in place of what it registered before, which is returned.
    /// - Throws: `limitsExceeded` if it, its process, or all together declare too much; what was registered then stays.
    func register(_ registration: Registration, from caller: Caller) throws -> Registration? {
        let connection = registration.connection
        holdings.joined(connection, process: caller.credentials?.processID)
        let former = registry.registration(of: connection)?.declared ?? ClientHoldings.Declared()
        try holdings.declare(registration.declared, of: connection)
        do throws(HandoffFailure) {
            return try registry.register(registration)
        } catch {
            // What was declared before fits, and may be declared again.
            try? holdings.declare(former, of: connection)
            throw error
        }
    }

    /// `connection` has no registration any more.
    func declareNothing(_ connection: String) {
        // Declaring nothing is never too much.
        try? holdings.declare(ClientHoldings.Declared(), of: connection)
    }
}

extension Broker {
    /// The applications with desktop entries have changed to these, or `isWhole` is false: these are known so far.
    func setInstalled(_ reading: InstalledReading, isWhole: Bool) {
        fileNameTypes = reading.names
        if let current = activities.current { object(of: current)?.fileNameTypesChanged() }
        let applications = reading.contents.applications
        for connection in registry.setInstalled(applications) {
            for activity in activities.activities(of: connection) {
                object(of: activity.id)?.registrationChanged()
            }
        }
        endReplacedAdapters()
        // Which packages the excluded applications are from may be known only now.
        exclude()
        defaults.lookAgain()
        // What the sites of the others have said is not to be forgotten, nor to be asked for again.
        if isWhole { sites.setInstalled(applications) }
        updateHandlers()
        if isWhole { firstReading.end() }
    }
}
