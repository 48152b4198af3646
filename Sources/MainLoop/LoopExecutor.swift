// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Runs Swift jobs on the thread that iterates a GLib main context.
///
/// It is both the serial executor of ``MainLoop`` and the task executor that every task of ours prefers,
/// so that a task never visits another thread. Jobs run in the order in which they were enqueued.
///
/// Jobs give way to GLib's other sources after ``longestRun``, so that signals, timers and the bus get their
/// turn however many jobs there are. The time of each job is charged to the account on whose behalf it was
/// enqueued (``TimeAccount``).
final class LoopExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // @unchecked: `jobs` is only touched with `mutex` held (pthread_mutex_lock(3) is safe from any thread); `running`,
    // `next`, `depth`, `timeLeft`, `account` and `meter` only on the thread that owns the context; GMainContext is documented as
    // usable from any thread.
    let context: OpaquePointer
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    // Each access to what is marked so is over before anything runs but the ends of what it drops, tasks and accounts, which do
    // not touch the loop; so it need not be checked for that each time.
    @exclusivity(unchecked) private var jobs: [Job] = []
    /// The jobs whose turn has come; those from `next` on have not run yet.
    @exclusivity(unchecked) private var running: [Job] = []
    @exclusivity(unchecked) private var next = 0
    @exclusivity(unchecked) private var depth = 0
    /// The account on whose behalf the present work is done.
    @exclusivity(unchecked) private(set) var account: TimeAccount?
    @exclusivity(unchecked) private var meter = TimeMeter()

    private struct Job {
        let job: UnownedJob
        let account: TimeAccount?
    }

    /// How long jobs may run in one iteration of the main context, in microseconds, before GLib looks at its
    /// other sources again.
    private static let longestRun: Int64 = 2000
    /// How much of ``longestRun`` is left in this iteration.
    @exclusivity(unchecked) private var timeLeft = longestRun
    /// How many jobs memory is kept for.
    private static let keptCapacity = 4096

    init() {
        context = g_main_context_default()
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        attachJobSource(to: context, executor: self)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    // MARK: Executor

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHere = isOwner
        let entry = Job(job: job, account: isHere ? account : nil)
        pthread_mutex_lock(mutex)
        jobs.append(entry)
        pthread_mutex_unlock(mutex)
        // On the loop's own thread the queue is looked at before the next poll; only a foreign thread
        // has to interrupt one.
        if !isHere { g_main_context_wakeup(context) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    func checkIsolated() {
        precondition(isOwner, "MainLoop code ran on a thread that does not own the main context")
    }

    func isIsolatingCurrentContext() -> Bool? { isOwner }

    private var isOwner: Bool { g_main_context_is_owner(context) != 0 }

    /// Makes sure that the calling thread is the loop's: that it owns the main context, or may own it now
    /// because it is the first thread and nobody else does.
    /// - Returns: whether ``giveBack()`` is to follow.
    func claim() -> Bool {
        if isOwner { return false }
        precondition(
            handoff_gettid() == getpid() && g_main_context_acquire(context) != 0,
            "MainLoop code would run on a thread that does not own the main context")
        return true
    }

    /// Whether ``claim()`` would succeed.
    var mayClaim: Bool {
        if isOwner { return true }
        guard handoff_gettid() == getpid(), g_main_context_acquire(context) != 0 else { return false }
        giveBack()
        return true
    }

    /// Gives up what ``claim()`` has taken.
    func giveBack() { g_main_context_release(context) }

    // MARK: Running

    /// Whether a job waits. To be called only on the loop's thread, like everything that follows.
    var hasJobs: Bool { waitingJobs > 0 }

    /// How many jobs wait.
    var waitingJobs: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return running.count - next + jobs.count
    }

    /// Runs `body`, which GLib called on the loop's thread; the outermost such call runs the jobs that it
    /// enqueued before it returns to GLib, which saves an iteration of the main context.
    func enter(_ body: () -> Void) {
        depth += 1
        body()
        if depth == 1 {
            drain()
            measure(nil)
        }
        depth -= 1
    }

    /// Charges `new` for what runs from now on.
    /// - Returns: the account that was charged before, for ``end(_:)``.
    func begin(_ new: TimeAccount?) -> TimeAccount? {
        let former = account
        account = new
        measure(new)
        return former
    }

    /// Charges `former` again for what runs from now on. The meter keeps running until something is done for
    /// somebody else: what follows is mostly a job on behalf of the same account.
    func end(_ former: TimeAccount?) {
        account = former
        if former != nil { measure(former) }
    }

    /// Measures time for `new` from now on.
    private func measure(_ new: TimeAccount?) {
        let new = new?.countsJobs == true ? nil : new
        if let (former, time) = meter.set(new) { MainLoop.assumeIsolated { former.charge(time) } }
    }

    /// GLib begins to look at its sources.
    func beginIteration() { timeLeft = Self.longestRun }

    /// Runs jobs in order, including those that other threads enqueue in the meantime, until there are none
    /// left or the time is up.
    private func drain() {
        guard timeLeft > 0 else { return }
        var now = MainLoop.now
        let end = now + timeLeft
        defer { timeLeft = end - now }
        repeat {
            if next == running.count {
                running.removeAll(keepingCapacity: running.count <= Self.keptCapacity)
                next = 0
                pthread_mutex_lock(mutex)
                swap(&jobs, &running)
                pthread_mutex_unlock(mutex)
                if running.isEmpty { return }
            }
            let entry = running[next]
            next += 1
            run(entry)
            let begun = now
            now = MainLoop.now
            if let account = entry.account, account.countsJobs {
                MainLoop.assumeIsolated { account.charge((now - begun) * 1000) }
            }
        } while now < end
    }

    private func run(_ entry: Job) {
        account = entry.account
        measure(entry.account)
        entry.job.runSynchronously(
            isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        account = nil
    }
}

/// The GSource through which the main context asks for and runs jobs.
private struct JobSource {
    var base: GSource
    var executor: Unmanaged<LoopExecutor>
}

// Filled before the executor exists and never written again.
private nonisolated(unsafe) var jobSourceFunctions = GSourceFuncs(
    prepare: { source, timeout in
        timeout?.pointee = -1
        let executor = executor(of: source)
        executor.beginIteration()
        return executor.hasJobs ? 1 : 0
    },
    check: { source in executor(of: source).hasJobs ? 1 : 0 },
    dispatch: { source, _, _ in
        executor(of: source).enter {}
        return 1
    },
    finalize: nil, closure_callback: nil, closure_marshal: nil)

private func executor(of source: UnsafeMutablePointer<GSource>?) -> LoopExecutor {
    // GLib passes the source that `attachJobSource` made, which is laid out as a JobSource.
    UnsafeMutableRawPointer(source.unsafelyUnwrapped).assumingMemoryBound(to: JobSource.self).pointee.executor
        .takeUnretainedValue()
}

private func attachJobSource(to context: OpaquePointer, executor: LoopExecutor) {
    guard let source = g_source_new(&jobSourceFunctions, guint(MemoryLayout<JobSource>.size)) else { return }
    UnsafeMutableRawPointer(source).assumingMemoryBound(to: JobSource.self).pointee.executor =
        .passUnretained(executor)
    g_source_set_can_recurse(source, 1)
    g_source_set_static_name(source, "handoff jobs")
    g_source_attach(source, context)
    g_source_unref(source)
}
