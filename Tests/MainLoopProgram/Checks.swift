// SPDX-License-Identifier: LGPL-2.1-or-later
import Glibc
import MainLoop

/// Uses up processor time of this thread.
private func burn(milliseconds: Double) {
    func used() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    let end = used() + Int64(milliseconds * 1_000_000)
    while used() < end {}
}

/// Ends the program with an error unless `condition` is true.
private func check(_ condition: Bool, _ what: String) {
    if condition { return }
    print("not as it should be: \(what)")
    exit(1)
}

/// Many jobs wait, and several sources are always ready.
@MainLoop
func checkQueue() async {
    var (ticks, order): (Int, [Int]) = (0, [])
    let descriptor = open("/dev/zero", O_RDONLY | O_CLOEXEC)
    let sources = (0..<10).map { _ in DescriptorSource(descriptor, .readable) { _ in ticks += 1 } }
    for number in 0..<200 {
        MainLoop.start {
            burn(milliseconds: 0.5)
            order.append(number)
        }
    }
    await MainLoop.start {}.value
    // There are 100 ms of work, and each source has its turn every 2 ms.
    check(ticks / sources.count >= 20, "ticks: \(ticks)")
    check(order == Array(0..<200), "order: \(order)")
    exit(0)
}

/// GLib calls the first source, then the second, in one iteration.
@MainLoop
func checkCallbacks() async {
    var order: [String] = []
    let sources = (0..<2).map { _ in
        LoopSource.soon {
            order.append("callback")
            MainLoop.start { order.append("job") }
        }
    }
    try? await MainLoop.sleep(for: .milliseconds(1))
    check(order == ["callback", "job", "callback", "job"] && sources.count == 2, "order: \(order)")
    exit(0)
}

/// Work is done for two accounts, and for nobody.
@MainLoop
func checkAccounts() async {
    var taken: [String: Int64] = [:]
    let one = TimeAccount { taken["one", default: 0] += $0 }
    let other = TimeAccount { taken["other", default: 0] += $0 }
    let task = MainLoop.charge(one) {
        burn(milliseconds: 10)
        return MainLoop.start {
            burn(milliseconds: 10)
            await Task.yield()
            MainLoop.charge(other) { burn(milliseconds: 10) }
            MainLoop.charge(nil) { burn(milliseconds: 40) }
            burn(milliseconds: 10)
            await MainLoop.start { burn(milliseconds: 10) }.value
            check(MainLoop.account === one, "the account after a task")
        }
    }
    await MainLoop.start { burn(milliseconds: 40) }.value
    await task.value
    // A timer runs for nobody, and by the time it fires, what was measured last has been reported.
    try? await MainLoop.sleep(for: .milliseconds(1))
    check(MainLoop.account == nil, "the account after a timer")
    check((39_000_000..<60_000_000).contains(taken["one", default: 0]), "\(taken)")
    check((9_900_000..<20_000_000).contains(taken["other", default: 0]), "\(taken)")
    exit(0)
}
