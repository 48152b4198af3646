// swift-tools-version: 6.2
// SPDX-License-Identifier: LGPL-2.1-or-later
// This file is long because SwiftPM reads all targets from one.
import Foundation
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// A module of ours, in `Sources/NAME`.
func module(_ name: String, _ dependencies: [Target.Dependency], plugins: [Target.PluginUsage] = []) -> Target
{
    .target(name: name, dependencies: dependencies, swiftSettings: settings, plugins: plugins)
}

/// A program that tests start, in `Tests/NAME` unless it is elsewhere.
func testProgram(_ name: String, _ dependencies: [Target.Dependency], _ path: String? = nil) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: path ?? "Tests/\(name)", swiftSettings: settings)
}

/// Whether this command is there and succeeds.
func succeeds(_ command: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
}

/// Whether there is GTK 4, and with it what applications that have windows take from here.
let hasGTK = succeeds("pkg-config", "--exists", "gtk4 >= 4.8")

/// Whether the programs with windows are built. Servers, and whoever only wants the daemons or the kit, have no GTK 4, and
/// nothing else needs it. SwiftPM remembers what this file has said for as long as it and the environment stay the same, so
/// `meson-helpers/build` looks itself, and says what it has found.
let hasWindows =
    Context.environment["HANDOFF_WINDOWS"].map { $0 == "yes" }
    ?? (succeeds("pkg-config", "--exists", "libadwaita-1 >= 1.2")
        && succeeds("blueprint-compiler", "--version"))

/// What a distribution calls its own (docs/packaging.md), by Meson's options of these names.
let vendor = ["APP_ID", "HOMEPAGE", "BUGTRACKER", "DEVELOPER"].map { name in
    let standard = name == "APP_ID" ? "org.example.Handoff" : ""
    let value = Context.environment["HANDOFF_\(name)"].flatMap { $0.isEmpty ? nil : $0 } ?? standard
    // Labels of bus names, of AppStream and of Firefox.
    guard
        name != "APP_ID"
            || value.wholeMatch(of: /([A-Za-z][A-Za-z0-9_]*\.){2,}[A-Za-z][A-Za-z0-9_]*/) != nil
    else {
        fatalError(
            "HANDOFF_APP_ID is \(value). Write three labels or more of letters, digits and “_”, with dots between them."
        )
    }
    let literal = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return CSetting.define("HANDOFF_\(name)", to: "\"\(literal)\"")
}

/// What nearly all that is Handoff stands on.
let ground: [Target.Dependency] = ["DBus", "HandoffCore", "HandoffInterfaces", "MainLoop", "Platform"]

/// One of the programs.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A module of the programs that stand for applications which do not know Handoff, in `Sources/Adapters/FOLDER`.
func adapter(_ name: String, _ folder: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: ["DBus", "HandoffCore", "MainLoop", "Platform"] + dependencies,
        path: "Sources/Adapters/\(folder)", swiftSettings: settings)
}

/// The adapters, each in a folder of this name.
let adapters = ["Browser", "Documents", "Editor", "Media", "Office", "Phone", "Shell"]

/// What each adapter may stand on beside that.
let adapterDependencies: [Target.Dependency] = [
    "AdapterSupport", "CGio", "HandoffClient", "HandoffInterfaces", "HandoffSession", "HandoffStarting",
    "HandoffStatus",
]

/// The tests of an adapter, in `Tests/AdapterTests/FOLDER`.
func adapterTests(_ name: String, _ folder: String) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: [
            .byName(name: name), "DBus", "HandoffClient", "HandoffCore", "HandoffInterfaces",
            "HandoffStatus", "MainLoop", "Platform", "TestSupport", "handoffd",
        ], path: "Tests/AdapterTests/\(folder)", swiftSettings: settings)
}

/// The tests of a module, in `Tests/NAMETests`.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: "\(name)Tests", dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
    name: "handoff",
    products: [
        .library(name: "HandoffKit", targets: ["HandoffKit"]),
        .library(name: "HandoffTesting", targets: ["HandoffTesting"]),
    ],
    targets: [
        .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(name: "CGio", pkgConfig: "gobject-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(name: "CDispatchMain"),
        .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls", providers: [.apt(["libgnutls28-dev"])]),
        .systemLibrary(name: "CXCB", pkgConfig: "xcb-xfixes", providers: [.apt(["libxcb-xfixes0-dev"])]),
        .systemLibrary(name: "CWayland"),
        .systemLibrary(name: "CSoup", pkgConfig: "gobject-2.0", providers: [.apt(["libsoup-3.0-dev"])]),
        .target(name: "CVendor", cSettings: vendor),
        module("Platform", ["CGio", "CVendor"]),
        module("MainLoop", ["CGio", "Platform"]),
        module("DBus", ["CDBus", "CGio", "MainLoop", "Platform"]),
        .target(
            name: "DBusGeneratorLibrary", dependencies: ["CGio"], path: "Sources/DBusGenerator/Library",
            swiftSettings: settings),
        .executableTarget(
            name: "dbus-generator", dependencies: ["DBusGeneratorLibrary"],
            path: "Sources/DBusGenerator/Tool", swiftSettings: settings),
        .plugin(
            name: "DBusGeneratorPlugin", capability: .buildTool(), dependencies: ["dbus-generator"],
            path: "Sources/DBusGenerator/Plugin"),
        module("HandoffCore", []),
        module(
            "HandoffInterfaces", ["CGio", "DBus", "HandoffCore", "MainLoop", "Platform"],
            plugins: ["DBusGeneratorPlugin"]),
        module("HandoffSession", ground),
        module("HandoffDaemon", ground + ["HandoffSession"]),
        module(
            "HandoffStarting", ["CGio", "DBus", "HandoffCore", "HandoffSession", "MainLoop", "Platform"]),
        module("HandoffBroker", ground + ["CGio", "HandoffDaemon", "HandoffSession", "HandoffStarting"]),
        program("handoffd", ["HandoffBroker", "HandoffDaemon", "HandoffInterfaces"]),
        module("HandoffBridge", ground + ["CGio", "CGnuTLS", "HandoffDaemon", "HandoffSession"]),
        program("handoff-bridge", ["HandoffBridge", "HandoffDaemon", "HandoffInterfaces", "Platform"]),
        module(
            "HandoffAdapters",
            ["DBus", "HandoffClient", "HandoffCore", "HandoffSession", "MainLoop", "Platform"]),
        module("HandoffAssociations", ["CGnuTLS", "CSoup", "HandoffCore"]),
        program("handoff-associations", ["HandoffAssociations"]),
        module(
            "HandoffCommand",
            ground + ["CGio", "HandoffClient", "HandoffSession", "HandoffStarting", "HandoffStatus"]),
        program("handoff", ["HandoffCommand"]),
        module("HandoffClient", ground + ["CGio"]),
        module("HandoffStatus", ground + ["HandoffClient", "HandoffSession"]),
        .target(
            name: "HandoffAgent",
            dependencies: ground + [
                "CGio", "CWayland", "CXCB", "HandoffAdapters", "HandoffClient", "HandoffSession",
                "HandoffStatus",
            ],
            exclude: ["Interfaces"], swiftSettings: settings, plugins: ["DBusGeneratorPlugin"]),
        program("handoff-agent", ["HandoffAgent", "HandoffDaemon", "HandoffInterfaces", "Platform"]),
        adapter(
            "AdapterSupport", "Support",
            [
                "HandoffAdapters", "HandoffClient", "HandoffDaemon", "HandoffInterfaces", "HandoffStarting",
                "HandoffStatus",
            ]),
        program(
            "handoff-adapter",
            ["AdapterSupport", "Platform"] + adapters.map { .byName(name: "\($0)Adapter") }),
        module("HandoffKit", ground + ["CDispatchMain", "HandoffClient"]),
        module("HandoffTesting", ground + ["HandoffBroker", "HandoffKit"]),
        .target(
            name: "TestSupport", dependencies: ["CGio", "DBus", "HandoffCore", "MainLoop", "Platform"],
            path: "Tests/TestSupport",
            swiftSettings: settings),
        .executableTarget(
            name: "MainLoopProgram", dependencies: ["MainLoop", "Platform"], path: "Tests/MainLoopProgram",
            swiftSettings: settings),
        tests("Platform", ["CGio", "MainLoopProgram", "Platform", "TestSupport"]),
        tests("MainLoop", ["CGio", "MainLoop", "MainLoopProgram", "Platform", "TestSupport"]),
        .target(
            name: "LibdbusReference", dependencies: ["CDBus", "DBus"], path: "Tests/LibdbusReference",
            swiftSettings: settings),
        tests(
            "DBus", ["CDBus", "CGio", "DBus", "LibdbusReference", "MainLoop", "Platform", "TestSupport"]),
        tests("DBusGenerator", ["DBusGeneratorLibrary"]),
        tests("HandoffCore", ["HandoffCore"]),
        tests("HandoffInterfaces", ["DBus", "HandoffCore", "HandoffInterfaces", "MainLoop", "TestSupport"]),
        tests("HandoffSession", ["HandoffCore", "HandoffSession", "TestSupport"]),
        tests(
            "HandoffDaemon", ["DBus", "HandoffCore", "HandoffDaemon", "MainLoop", "Platform", "TestSupport"]),
        tests(
            "HandoffBroker",
            [
                "CGio", "DBus", "HandoffBroker", "HandoffCore", "HandoffInterfaces", "HandoffSession",
                "HandoffStarting", "HandoffTesting", "MainLoop", "TestSupport",
            ]),
        tests(
            "HandoffBridge",
            [
                "CGio", "DBus", "HandoffBridge", "HandoffCore", "HandoffInterfaces", "HandoffSession",
                "MainLoop", "Platform", "TestSupport",
            ]),
        tests("HandoffStarting", ["DBus", "HandoffCore", "HandoffStarting", "MainLoop", "TestSupport"]),
        tests("HandoffAdapters", ["DBus", "HandoffAdapters", "HandoffClient", "HandoffCore", "Platform"]),
        adapterTests("AdapterSupport", "Support"),
        tests("HandoffAssociations", ["HandoffAssociations", "HandoffCore"]),
        tests(
            "HandoffAgent",
            [
                "DBus", "HandoffAgent", "HandoffClient", "HandoffCore", "HandoffInterfaces", "HandoffStatus",
                "MainLoop", "TestSupport",
            ]),
        tests("HandoffCommand", ["DBus", "HandoffClient", "HandoffCommand", "HandoffStatus", "Platform"]),
        tests(
            "HandoffClient",
            [
                "DBus", "HandoffClient", "HandoffCore", "HandoffInterfaces", "MainLoop", "TestSupport",
                "handoffd",
            ]),
        tests("HandoffStatus", ground + ["HandoffClient", "HandoffStatus", "TestSupport", "handoffd"]),
        testProgram(
            "MainActorProgram",
            ["CGio", "DBus", "HandoffClient", "HandoffCore", "HandoffKit", "MainLoop", "Platform"]),
        testProgram(
            "ConformanceProgram", ["DBus", "HandoffCore", "HandoffInterfaces", "HandoffKit", "Platform"]),
        testProgram("note", ["HandoffKit"], "data/clients/swift"),
        testProgram(
            "stream-rate", ["DBus", "HandoffInterfaces", "HandoffKit", "Platform"], "Tests/Bench/kit"),
        tests(
            "HandoffKit",
            [
                "DBus", "HandoffCore", "HandoffInterfaces", "HandoffKit", "HandoffTesting",
                "MainActorProgram", "MainLoop", "TestSupport", "handoffd",
            ]),
    ]
)

package.targets += adapters.flatMap { name in
    [adapter("\(name)Adapter", name, adapterDependencies), adapterTests("\(name)Adapter", name)]
}

// What has windows, and what the tests of it stand on.
package.targets += [
    module("HandoffSettingsModel", ["DBus", "HandoffClient", "HandoffCore", "HandoffStatus", "Platform"]),
    tests(
        "HandoffSettingsModel",
        ["DBus", "HandoffClient", "HandoffCore", "HandoffSettingsModel", "HandoffStatus", "Platform"]),
    .target(
        name: "ContactsModel", dependencies: ["CGio", "Platform"], path: "Sources/Examples/ContactsModel",
        swiftSettings: settings),
    testProgram("ContactsProgram", ["ContactsModel"]),
    tests("ContactsModel", ["ContactsModel", "ContactsProgram", "TestSupport"]),
]
if hasGTK {
    package.products.append(.library(name: "HandoffGTK", targets: ["HandoffGTK"]))
    package.targets += [
        // Its headers are found through GLib's, see there.
        .systemLibrary(name: "CGTK", pkgConfig: "gobject-2.0", providers: [.apt(["libgtk-4-dev"])]),
        module("GTKObjects", ["CGTK"]),
        module("HandoffGTK", ["CGTK", "GTKObjects", "HandoffKit"]),
        tests("HandoffGTK", ["HandoffGTK"]),
        testProgram("DocumentsProgram", ["CGTK", "GTKObjects", "HandoffGTK", "HandoffKit"]),
    ]
}
if hasGTK, hasWindows {
    package.targets += [
        .systemLibrary(
            name: "CAdwaita", pkgConfig: "gobject-2.0", providers: [.apt(["libadwaita-1-dev"])]),
        .executableTarget(
            name: "template-generator", path: "Sources/TemplateGenerator/Tool", swiftSettings: settings),
        .plugin(
            name: "TemplateGeneratorPlugin", capability: .buildTool(), dependencies: ["template-generator"],
            path: "Sources/TemplateGenerator/Plugin"),
        module("GTKSupport", ["CAdwaita", "GTKObjects"]),
        .executableTarget(
            name: "handoff-contacts",
            dependencies: [
                "CAdwaita", "CGTK", "ContactsModel", "GTKObjects", "GTKSupport", "HandoffGTK", "HandoffKit",
                "Platform",
            ],
            path: "Sources/Examples/Contacts", swiftSettings: settings, plugins: ["TemplateGeneratorPlugin"]),
        .executableTarget(
            name: "handoff-settings",
            dependencies: ground + [
                "CAdwaita", "CGTK", "CGio", "GTKObjects", "GTKSupport", "HandoffAdapters", "HandoffClient",
                "HandoffSession", "HandoffSettingsModel", "HandoffStatus",
            ],
            path: "Sources/HandoffSettings", swiftSettings: settings, plugins: ["TemplateGeneratorPlugin"]),
        tests("GTKSupport", ["GTKSupport"]),
    ]
}

// The fuzz targets in `Tests/Fuzz`, and what lets a fuzzer see into our modules. `meson-helpers/fuzz` sets the
// variables.
if let engine = Context.environment["HANDOFF_FUZZ_ENGINE"] {
    let address = Context.environment["HANDOFF_FUZZ_ADDRESS"] == nil ? [] : ["-sanitize=address"]
    let seeing = address + ["-sanitize=fuzzer", "-parse-as-library", "-enable-testing"]
    for target in package.targets where target.type == .regular {
        target.swiftSettings? += [.unsafeFlags(seeing)]
    }
    let linking: [LinkerSetting] = [
        .unsafeFlags(address + [engine, "-use-ld=lld"]), .linkedLibrary("stdc++"),
    ]
    for target in package.targets where target.name == "dbus-generator" { target.linkerSettings = linking }
    let fuzzTargets: KeyValuePairs<String, [Target.Dependency]> = [
        "Marshalling": ["DBus", "LibdbusReference"],
        "Messages": ["DBus"],
        "Names": ["DBus", "DBusGeneratorLibrary", "HandoffCore"],
        "Values": ["DBus"],
        "Activities": ["DBus", "HandoffBroker", "HandoffCore", "HandoffInterfaces"],
        "Folders": ["DBus", "HandoffBroker", "HandoffCore", "HandoffInterfaces"],
        "Frames": ["DBus", "HandoffBridge", "LibdbusReference"],
        "Hello": ["DBus", "HandoffBridge", "HandoffCore"],
        "Interfaces": ["CGio", "DBusGeneratorLibrary"],
        "Json": ["AdapterSupport", "Platform"],
        "Files": ["HandoffBridge", "HandoffCore", "Platform"],
        "Opening": ["HandoffBridge", "HandoffCore"],
        "Sites": ["HandoffAssociations", "HandoffBroker", "HandoffCore", "HandoffInterfaces"],
        "Streams": ["HandoffBridge"],
    ]
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .target(
            name: "FuzzSupport", dependencies: ["CFuzzer", "CGio", "DBus"], path: "Tests/Fuzz/Support",
            swiftSettings: settings),
    ]
    package.targets += fuzzTargets.map { name, modules in
        .executableTarget(
            name: "fuzz-\(name.lowercased())", dependencies: modules + ["FuzzSupport"],
            path: "Tests/Fuzz/\(name)", swiftSettings: settings, linkerSettings: linking)
    }
}

// With the names of targets in HANDOFF_TARGETS, the package is these and what they stand on: what builds some programs, or
// the tests of a module, compiles and links nothing else.
if let named = Context.environment["HANDOFF_TARGETS"]?.split(separator: " ").map(String.init) {
    var needed: Set<String> = []
    func need(_ name: String) {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name })
        else { return }
        for dependency in target.dependencies {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): need(name)
            default: break
            }
        }
        for case .plugin(let name, _) in target.plugins ?? [] { need(name) }
    }
    for name in named where !package.targets.contains(where: { $0.name == name }) {
        fatalError("HANDOFF_TARGETS names \(name), which is no target here.")
    }
    named.forEach(need)
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { product in
        guard let library = product as? Product.Library else { return false }
        return !library.targets.allSatisfy(needed.contains)
    }
}
