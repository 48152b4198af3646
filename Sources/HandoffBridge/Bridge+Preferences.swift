// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import MainLoop

extension Bridge {
    func chosen(_ preferences: [String: Value]) {
        if let name = preferences["DeviceName"]?.string, settings.take(deviceName: name) {
            links.sayHello()
            discovery.nameChanged()
            propertiesChanged("DeviceName")
        }
        if case .uint16(let port)? = preferences["Port"], settings.take(port: port) {
            ownPlaces.close()
            entrance.portChosen()
            ownPlaces.update()
            discovery.renew()
        }
        if case .boolean(let shares)? = preferences["ShareAddresses"], settings.take(sharesAddresses: shares)
        {
            ownPlaces.update()
        }
        if case .boolean(let introduces)? = preferences["Introduces"], settings.take(introduces: introduces) {
            introductions.choiceChanged()
        }
        if case .boolean(let parks)? = preferences["Park"] {
            settings.parks = parks
            sleep.update()
        }
        if let excluded = preferences["ExcludedApplications"]?.strings { outbox.excluded = Set(excluded) }
    }
}
