// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc
internal import HandoffCore
internal import MainLoop
internal import Platform

/// A program that this command has started. It has no descriptor but the three standard ones, and signals mean for it what
/// they mean at first.
@MainLoop
final class ChildProcess {
    /// What its standard descriptors are: each a descriptor of ours, of which it gets a duplicate, or nil for `/dev/null`.
    struct Descriptors {
        var input: Int32?
        var output: Int32? = STDOUT_FILENO
        var errors: Int32? = STDERR_FILENO
    }

    /// How long it is given to end after it was asked to.
    private static let grace = Duration.seconds(2)
    /// POSIX_SPAWN_SETSID, which <spawn.h> has only with _GNU_SOURCE.
    private static let startsSession: Int32 = 0x80

    /// Its process id.
    let id: Int32
    private let leadsGroup: Bool
    private let status = Awaited<Int32>()
    private var watch: ChildWatch?

    /// Starts the program at the path that begins `command`, with the arguments that follow it.
    /// - Parameters:
    ///   - environment: all of its environment.
    ///   - isForeground: whether it stays in the session and the group of this process, and so has its terminal. Otherwise it has
    ///     its own, which ``end()`` ends with all that it has started there.
    ///   - isBound: whether it is asked to end when this process ends, however that comes, also if it is killed. It is not in
    ///     the foreground then.
    /// - Throws: if it cannot be started.
    init(
        _ command: [[UInt8]], environment: [String: String], _ descriptors: Descriptors = Descriptors(),
        isForeground: Bool = false, isBound: Bool = false
    ) throws(CommandFailure) {
        leadsGroup = isBound || !isForeground
        let variables = environment.map { Array("\($0.key)=\($0.value)".utf8) }
        var process: pid_t = 0
        let failure: String?
        if isBound {
            failure = Self.spawnBound(command, variables, descriptors, &process)
        } else {
            let number = Self.spawn(command, variables, descriptors, isForeground, &process)
            failure = number == 0 ? nil : SystemError.text(number)
        }
        id = process
        if let failure {
            let name = String(decoding: command.first ?? [], as: UTF8.self)
            throw CommandFailure(
                tr(
                    "“{program}” cannot be started: {reason}.",
                    ["program": name.shown, "reason": failure.shown]))
        }
        watch = ChildWatch(id) { [status] in status.come($0) }
    }

    /// Starts a program that is asked to end when the thread ends that has started it (prctl(2), `PR_SET_PDEATHSIG`): the main
    /// one, as long as there is this process. posix_spawn(3) cannot do that.
    /// - Returns: why it was not started; nil if it was.
    private static func spawnBound(
        _ command: [[UInt8]], _ variables: [[UInt8]], _ descriptors: Descriptors, _ process: inout pid_t
    ) -> String? {
        let texts = texts(command + variables)
        defer { for text in texts { free(text) } }
        var words: [UnsafeMutablePointer<CChar>?] = texts.prefix(command.count) + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = texts.dropFirst(command.count) + [nil]
        var flags = G_SPAWN_DO_NOT_REAP_CHILD.rawValue
        if descriptors.output == nil { flags |= G_SPAWN_STDOUT_TO_DEV_NULL.rawValue }
        if descriptors.errors == nil { flags |= G_SPAWN_STDERR_TO_DEV_NULL.rawValue }
        do throws(GLibError) {
            _ = try throwingGError { error in
                handoff_spawn(
                    nil, &words, &environment, GSpawnFlags(rawValue: flags), &process,
                    descriptors.input ?? -1, descriptors.output ?? -1, descriptors.errors ?? -1, 0, true,
                    error)
            }
            return nil
        } catch {
            return error.message
        }
    }

    /// Each as C has it, to be freed.
    private static func texts(_ texts: [[UInt8]]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { bytes in strdup(bytes.map { CChar(bitPattern: $0) } + [0]) }
    }

    private static func spawn(
        _ command: [[UInt8]], _ variables: [[UInt8]], _ descriptors: Descriptors, _ isForeground: Bool,
        _ process: inout pid_t
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, source) in [descriptors.input, descriptors.output, descriptors.errors].enumerated() {
            if let source {
                posix_spawn_file_actions_adddup2(&actions, source, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
            }
        }
        keepDescriptors()
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (isForeground ? 0 : startsSession)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let texts = texts(command + variables)
        defer { for text in texts { free(text) } }
        guard let path = texts.first ?? nil else { return EINVAL }
        return posix_spawn(
            &process, path, &actions, &attributes, texts.prefix(command.count) + [nil],
            texts.dropFirst(command.count) + [nil])
    }

    /// Sees to it that no program that is started gets a descriptor but those that are meant for it: this one was started with
    /// some itself, perhaps.
    private static func keepDescriptors() {
        guard let folder = opendir("/proc/self/fd") else { return }
        defer { closedir(folder) }
        while let name = FolderNames.next(in: folder) {
            guard let number = Int32(name), number > STDERR_FILENO else { continue }
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        }
    }

    /// Waits for its end, for at most `time`; nil for however long that takes.
    /// - Returns: its status (wait(2)); nil if it has not ended by then.
    func status(within time: Duration?) async -> Int32? { await status.value(within: time) }

    /// Whether it has ended.
    var hasEnded: Bool { status.value != nil }

    /// Sends it a signal, with all that it has started, unless it has ended.
    func signal(_ number: Int32) {
        // As long as its status was not taken, nothing else can have its id.
        if !hasEnded { _ = kill(leadsGroup ? -id : id, number) }
    }

    /// Ends it, with all that it has started: it is asked to end first.
    func end() async {
        signal(SIGTERM)
        signal(SIGCONT)
        if await status(within: Self.grace) != nil { return }
        signal(SIGKILL)
        _ = await status(within: Self.grace)
    }
}

/// The status of a process that has ended (wait(2)).
enum ProcessEnd: Equatable {
    case exited(Int32)
    case killed(signal: Int32)

    init(_ status: Int32) {
        self = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: status & 0x7F)
    }

    /// What has happened, as the end of a sentence.
    var text: String {
        switch self {
        case .exited(let status): tr("has ended with status {number}", ["number": "\(status)"])
        case .killed(let signal): tr("was ended by signal {number}", ["number": "\(signal)"])
        }
    }

    /// The exit status that a shell would have.
    var exitStatus: Int32 {
        switch self {
        case .exited(let status): status
        case .killed(let signal): 128 + signal
        }
    }
}
