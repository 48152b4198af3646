// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffSession
package import Platform

/// Where a bridge finds its files, and where it listens.
package struct BridgeOptions: Sendable {
    /// The folder of the key, the certificate and the trust file.
    package var stateFolder: String
    /// The path of the configuration file.
    package var configuration: String
    /// Where to listen, nil for what the configuration says.
    var listen: NetworkAddress?

    /// Whether this device finds others, and is found by them, without being given addresses.
    package var discovers = true

    /// Options with the user's own files.
    /// - Throws: if this machine has no id.
    package init() throws(KeyFileError) {
        stateFolder = try HandoffDirectories.state()
        configuration = HandoffDirectories.configurationFile
    }

    /// Options with these files.
    package init(stateFolder: String, configuration: String) {
        self.stateFolder = stateFolder
        self.configuration = configuration
    }

    /// Listens at `address`: `ADDRESS:PORT`, where port 0 stands for any.
    /// - Throws: if the address is of another form.
    package mutating func listen(at address: String) throws {
        guard let parsed = NetworkAddress(address, allowsAnyPort: true) else {
            throw StartFailure("“\(address)” is not an address to listen at. Give ADDRESS:PORT or [V6]:PORT.")
        }
        listen = parsed
    }
}
