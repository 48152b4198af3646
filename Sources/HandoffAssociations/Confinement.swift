// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CSoup
internal import Glibc

/// What this process takes from itself before it meets anything from the network. All of it is beyond need: whatever
/// cannot be taken is left.
enum Confinement {
    /// How long, in seconds, this process lives at most: longer than two downloads take.
    private static let lifetime: UInt32 = 12
    private static let memory: rlim_t = 1 << 29
    private static let descriptors: rlim_t = 64

    /// Limits what this process can use, and has it end with the one that has started it.
    static func begin() {
        // It starts nothing, and if it did, that could have no more rights than this.
        handoff_gain_no_privileges()
        // Nobody else waits for its answer.
        handoff_end_with_parent()
        // What has more already, as under a sanitizer, would only end.
        if size < memory { limit(RLIMIT_AS, to: memory) }
        limit(RLIMIT_CPU, to: rlim_t(lifetime))
        limit(RLIMIT_NOFILE, to: descriptors)
        // No file can grow by what it writes, whatever it writes to; pipes do not count.
        limit(RLIMIT_FSIZE, to: 0)
        limit(RLIMIT_CORE, to: 0)
        signal(SIGALRM, SIG_DFL)
        unblockSignals()
        alarm(lifetime)
    }

    /// How many bytes of addresses this process uses; 0 if the system does not say.
    private static var size: rlim_t {
        var text = [UInt8](repeating: 0, count: 32)
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        let count = read(descriptor, &text, text.count)
        let digits = String(
            decoding: text[..<max(count, 0)].prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        return (rlim_t(digits) ?? 0).multipliedReportingOverflow(by: rlim_t(sysconf(Int32(_SC_PAGESIZE))))
            .partialValue
    }

    private static func limit(_ resource: __rlimit_resource, to most: rlim_t) {
        var limit = rlimit(rlim_cur: most, rlim_max: most)
        _ = setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
    }

    private static func unblockSignals() {
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
    }
}
