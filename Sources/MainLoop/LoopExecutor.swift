// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// Runs Swift jobs on the thread that iterates a GLib main context.
///
/// It is both the serial executor of ``MainLoop`` and the task executor that every task of ours prefers,
/// so that a task never visits another thread. Jobs run in the order in which they were enqueued.
final class LoopExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // @unchecked: `jobs` and `isRunning` are only touched with `mutex` held (pthread_mutex_lock(3) is safe
    // from any thread); `depth` and `source` only on the thread that owns the context; GMainContext is
    // documented as usable from any thread.
    let context: OpaquePointer
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var jobs: [UnownedJob] = []
    private var spare: [UnownedJob] = []
    private var depth = 0

    /// How many jobs run before GLib may look at its other sources again.
    private static let longestRun = 4096

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
        pthread_mutex_lock(mutex)
        jobs.append(job)
        pthread_mutex_unlock(mutex)
        // On the loop's own thread the queue is looked at before the next poll; only a foreign thread
        // has to interrupt one.
        if g_main_context_is_owner(context) == 0 { g_main_context_wakeup(context) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    func checkIsolated() {
        precondition(isOwner, "MainLoop code ran on a thread that does not own the main context")
    }

    func isIsolatingCurrentContext() -> Bool? { isOwner }

    private var isOwner: Bool { g_main_context_is_owner(context) != 0 }

    /// Makes sure that the calling thread is the loop's: that it owns the main context, or may now, being the first thread
    /// while nobody does.
    /// - Returns: whether ``giveBack()`` is to follow.
    func claim() -> Bool {
        if isOwner { return false }
        precondition(
            handoff_gettid() == getpid() && g_main_context_acquire(context) != 0,
            "MainLoop code would run on a thread that does not own the main context")
        return true
    }

    /// Ends what ``claim()`` has begun.
    func giveBack() { g_main_context_release(context) }

    // MARK: Running

    /// Whether a job waits.
    var hasJobs: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return !jobs.isEmpty
    }

    /// Runs `body`, which GLib called on the loop's thread; the outermost such call runs the jobs that it
    /// enqueued before it returns to GLib, which saves an iteration of the main context.
    func enter(_ body: () -> Void) {
        depth += 1
        body()
        if depth == 1 { drain() }
        depth -= 1
    }

    private func drain() {
        var left = Self.longestRun
        while left > 0 {
            pthread_mutex_lock(mutex)
            swap(&jobs, &spare)
            pthread_mutex_unlock(mutex)
            if spare.isEmpty { return }
            left -= spare.count
            for job in spare {
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            spare.removeAll(keepingCapacity: spare.count <= Self.longestRun)
        }
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
        return executor(of: source).hasJobs ? 1 : 0
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
