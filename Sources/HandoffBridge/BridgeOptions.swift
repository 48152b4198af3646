// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffDaemon
public import Platform

/// Where a bridge finds its files, and where it listens.
public struct BridgeOptions: Sendable {
    /// The folder of key, certificate and trust.
    public var stateFolder: String
    /// The configuration.
    public var configuration: String
    /// Where to listen, nil for what the configuration says.
    var listen: NetworkAddress?

    /// Whether others are found, and find this device, by themselves.
    public var discovers = true

    /// The user's files.
    /// - Throws: if this machine has no id.
    public init() throws(KeyFileError) {
        stateFolder = try HandoffDirectories.state()
        configuration = HandoffDirectories.configurationFile
    }

    /// These files.
    public init(stateFolder: String, configuration: String) {
        self.stateFolder = stateFolder
        self.configuration = configuration
    }

    /// Listens at `address`: `ADDRESS:PORT`, where port 0 stands for any.
    /// - Throws: if it is of another form.
    public mutating func listen(at address: String) throws {
        guard let parsed = NetworkAddress(address, allowsAnyPort: true) else {
            throw StartFailure("“\(address)” is not an address to listen at. Give ADDRESS:PORT or [V6]:PORT.")
        }
        listen = parsed
    }
}
