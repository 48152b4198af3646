// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import Glibc
internal import HandoffClient
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop
internal import Platform

/// What `handoff publish` is told about the script that it serves as an application.
struct ScriptOptions: Sendable {
    /// Whether each line of standard input is an update.
    let readsLines: Bool
    /// What says what the state is, when it is needed.
    let save: String?
    /// What is run once the activity was continued elsewhere.
    let continued: String?

    static func declare(_ options: inout ProgramOptions) {
        options.flag(
            "json-lines",
            tr(
                "Set what each line of standard input says, an object of JSON such as {example}; end with standard input",
                ["example": "{\"title\": \"…\", \"userInfo\": {…}}"]))
        options.text(
            "save", argument: "COMMAND",
            tr("Whenever the activity is needed elsewhere, take such an object from what this command prints")
        )
        options.text(
            "continued", argument: "COMMAND",
            tr(
                "Run this whenever the activity was continued elsewhere; HANDOFF_DEVICE_ID and "
                    + "HANDOFF_DEVICE_NAME say where"
            ))
    }

    init(_ values: ProgramOptions.Values) throws(CommandFailure) {
        readsLines = values.has("json-lines")
        save = values["save"]
        continued = values["continued"]
        for name in ["save", "continued"] where values[name]?.isEmpty == true {
            throw .usage(tr("--{option} has no command. Give one, or leave it out.", ["option": name]))
        }
        guard readsLines else { return }
        guard values["stream"] != "-" else {
            throw .usage(
                tr(
                    "--json-lines and “--stream -” both read standard input. Give --stream a file, or leave one out."
                )
            )
        }
        guard !StandardDescriptors.closed.contains(STDIN_FILENO) else {
            throw .usage(tr("--json-lines: standard input is closed. Redirect it."))
        }
    }
}

/// The script that stands behind an activity: what it says, what it is asked, and what it is told.
@MainLoop
final class PublishingScript {
    /// How long the command of `--save` may take: less than the broker waits, so that it learns of a failure.
    private static let saving = Deadline.willSave - .milliseconds(200)
    /// How many commands of `--continued` may wait for the one before.
    private static let maximumWaiting = 16
    /// How many lines that are refused are told one by one.
    private static let toldLines = 100

    private let options: ScriptOptions
    private let type: String
    /// What belongs to each state beside what the script says.
    private let added: [String: Value]
    private var state = ActivityState()
    private var running: ShellCommand?
    private var waiting: [ClientDevice] = []
    /// Whether nothing more is to come.
    private var isEnding = false
    /// Whether nothing is to be run any more.
    private var isOver = false
    private let idle = Awaited<Void>()
    private(set) var refusedLines = 0

    /// - Parameters:
    ///   - properties: what the activity begins with.
    ///   - added: what belongs to `UserInfo`, whatever the script says.
    init(_ options: ScriptOptions, type: String, _ properties: [String: Value], adding added: [String: Value])
    {
        (self.options, self.type, self.added) = (options, type, added)
        // If it is not right, the broker says so.
        _ = try? state.apply(properties)
    }

    /// What all commands find in their environment.
    private var variables: [String: String] { ["HANDOFF_ACTIVITY_TYPE": type] }

    // MARK: Lines

    /// Sets what standard input says, line by line, until it ends.
    /// - Parameter set: takes the properties that change, which have been checked.
    /// - Returns: whether it has ended; not if it is not to be read.
    /// - Throws: why standard input cannot be read.
    func readLines(_ set: ([String: Value]) -> Void) async throws(CommandFailure) -> Bool {
        guard options.readsLines else { return false }
        try await InputLines.read { line in
            do throws(CommandFailure) {
                guard let bytes = line.bytes else {
                    throw CommandFailure(
                        tr(
                            "It is longer than {count} bytes. Send the bulk of it with --stream.",
                            ["count": "\(InputLines.maximumLine)"])
                    )
                }
                if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
                set(try checked(try ActivityUpdate(bytes).properties))
            } catch {
                refuse(
                    tr("Line {number} of standard input is left out.", ["number": "\(line.number)"])
                        + " \(error.message)")
            }
        }
        return true
    }

    private func refuse(_ text: String) {
        refusedLines += 1
        if refusedLines <= Self.toldLines { Output.note(text) }
        if refusedLines == Self.toldLines {
            Output.note(tr("Further lines that are left out are only counted."))
        }
    }

    /// What comes of it for who called: why not all of standard input was set; nil if all was.
    var failure: CommandFailure? {
        refusedLines == 0
            ? nil
            : CommandFailure(
                trn(
                    "{count} line of standard input was left out.",
                    "{count} lines of standard input were left out.", count: refusedLines))
    }

    /// `properties`, which the rules allow: all of them or none.
    private func checked(_ properties: [String: Value]) throws(CommandFailure) -> [String: Value] {
        var properties = properties
        if !added.isEmpty, let userInfo = properties["UserInfo"]?.properties {
            properties["UserInfo"] = .properties(userInfo.merging(added) { given, _ in given })
        }
        do throws(HandoffFailure) { try state.apply(properties) } catch {
            throw CommandFailure(error.message)
        }
        return properties
    }

    /// The broker has refused something, which has these values again.
    func refused(_ error: DBusError, restored: [String: Value?]) {
        _ = try? state.apply(restored.compactMapValues(\.self))
        refuse(tr("What standard input says was refused.") + " \(error.message.shown.sentence)")
    }

    // MARK: Saving

    /// What the command of `--save` says; nothing if there is none.
    /// - Throws: why it says nothing, after that was told.
    func save() async throws -> [String: Value] {
        guard let command = options.save else { return [:] }
        do throws(CommandFailure) {
            let run = try ShellCommand(command, variables, taking: .output(limit: InputLines.maximumLine))
            let outcome = await run.outcome(within: Self.saving)
            guard !outcome.isTooMuch else {
                throw CommandFailure(
                    tr("It has printed more than {count} bytes.", ["count": "\(InputLines.maximumLine)"]))
            }
            guard let end = outcome.end else {
                throw CommandFailure(tr("It took longer than the two seconds that the other device waits."))
            }
            guard end == .exited(0) else { throw CommandFailure(tr("It {end}.", ["end": end.text])) }
            let update = try ActivityUpdate(outcome.output)
            var answer = try checked(update.properties)
            // What a command says is asked of it each time.
            answer["Passing"] = .boolean(update.passing ?? true)
            return answer
        } catch {
            let message = tr("The command of --save has not said what the state is.") + " \(error.message)"
            Output.note("\(message) " + tr("The state from before is handed off."))
            throw HandoffFailure(.applicationFailed, message)
        }
    }

    // MARK: Going on elsewhere

    /// The activity was continued there.
    func wasContinued(on device: ClientDevice) {
        guard options.continued != nil, !isOver else { return }
        guard waiting.count < Self.maximumWaiting else {
            return Output.note(
                tr("The command of --continued is still busy with others, and is not run for this."))
        }
        waiting.append(device)
        if running == nil { MainLoop.start { [self] in await runContinued() } }
    }

    private func runContinued() async {
        guard running == nil, let command = options.continued else { return }
        while !isOver, !waiting.isEmpty {
            let device = waiting.removeFirst()
            let variables = variables.merging(
                ["HANDOFF_DEVICE_ID": device.id, "HANDOFF_DEVICE_NAME": device.name]) { $1 }
            do throws(CommandFailure) {
                let run = try ShellCommand(command, variables, taking: .complaints)
                running = run
                let outcome = await run.outcome(within: nil)
                if let end = outcome.end, end != .exited(0), !isOver {
                    Output.note(tr("The command of --continued {end}.", ["end": end.text]))
                }
            } catch {
                Output.note(tr("The command of --continued was not run.") + " \(error.message)")
            }
            running = nil
        }
        if isEnding { idle.come(()) }
    }

    /// Waits until the command of `--continued` has ended; once the user has interrupted, it is ended.
    func finish(_ interruption: Awaited<Void>) async {
        isEnding = true
        if running != nil || !waiting.isEmpty {
            MainLoop.start { [self] in
                _ = await interruption.value(within: nil)
                idle.come(())
            }
            _ = await idle.value(within: nil)
        }
        isOver = true
        await running?.end()
    }
}
