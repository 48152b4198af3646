// SPDX-License-Identifier: LGPL-2.1-or-later

/// An application that says in its desktop entry that it takes part in Handoff, whether or not it runs.
package struct InstalledApplication: Hashable, Sendable {
    /// Which application it is.
    package let applicationID: ApplicationID
    /// The team that the entry names; nil if it names none, which makes a team of the application alone.
    package let team: Team?
    /// What the entry declares.
    package let declaration: Declaration
    /// How it is started while it does not run; nil if it cannot be.
    package var start: Start?
    /// The package that its entry is from; nil if it is not known to be from one.
    package let package: SandboxPackage?
    /// The adapter that the entry belongs to; nil if it is that of an application which knows Handoff itself.
    package let adapter: AdapterName?
    /// The desktop entries of the applications with which it opens documents; empty if it does so itself, or does not say.
    package let opensWith: [String]
    /// Whether one of these is installed, or there are none.
    package var canOpen = true

    /// What starts an application.
    package enum Start: Hashable, Sendable {
        /// The bus, by the application's name.
        case bus
        /// The command line of its desktop entry.
        case program
    }

    /// An application, by default one that cannot be started.
    package init(
        _ applicationID: ApplicationID, team: Team? = nil, declaration: Declaration,
        start: Start? = nil, package: SandboxPackage? = nil, adapter: AdapterName? = nil,
        opensWith: [String] = []
    ) {
        self.applicationID = applicationID
        self.team = team
        self.declaration = declaration
        self.start = start
        self.package = package
        self.adapter = adapter
        self.opensWith = opensWith
    }

    /// Whether it may continue `offer`: it is of the team, and declares the type.
    func continues(_ offer: Offer) -> Bool {
        ownTeam == offer.team && declaration.types.contains(offer.type)
    }

    /// The team that it names, or that it is alone.
    var ownTeam: Team { team ?? Team(applicationID) }
}
