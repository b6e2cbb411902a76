import { Worker } from 'node:worker_threads';
import { createFairQueue, QueueFull } from '../async/fair-queue.ts';
import { Fault } from '../fault.ts';
import type { TaskRequest, TaskResponse, Tasks } from './serve-tasks.ts';

export type WorkerPoolOptions = {
  /** The file that calls `serveTasks`. */
  url: URL;
  /** Threads start when they are first needed and are reused, because loading their code takes longer than most tasks. */
  threadsMax: number;
  /** Memory of one thread. */
  memoryMb: number;
  /** Tasks that wait or run, over all keys. */
  slots: number;
};

/** `key`: the project or kind of work, which has its own queue. `slotsPerKey`: tasks of this key that may wait or run. */
export type TaskOptions = { key: string; deadlineMs: number; slotsPerKey?: number };

/**
 * Threads for work whose cost untrusted input decides. Each task has a deadline and a memory bound. A task beyond them ends
 * together with its thread, and the next task gets a new thread.
 */
export type WorkerPool<T extends Tasks> = {
  run<N extends keyof T & string>(
    name: N,
    input: Parameters<T[N]>[0],
    running: TaskOptions,
  ): Promise<Awaited<ReturnType<T[N]>>>;
  /** Stops running and waiting tasks. */
  close(): Promise<void>;
};

type Task = TaskRequest & { deadlineMs: number; settle: PromiseWithResolvers<unknown> };
type Thread = { worker: Worker; isReady: boolean; task: Task | null; timer: NodeJS.Timeout | null };

export function createWorkerPool<T extends Tasks>(options: WorkerPoolOptions): WorkerPool<T> {
  const pool = new Pool(options);
  return {
    run: (name, input, running) =>
      pool.run(name, input, running) as Promise<Awaited<ReturnType<T[typeof name]>>>,
    close: () => pool.close(),
  };
}

class Pool {
  readonly #options: WorkerPoolOptions;
  readonly #queue;
  readonly #threads = new Set<Thread>();
  readonly #closing = new AbortController();
  #tasks = 0;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#queue = createFairQueue({ atOnce: options.threadsMax, slots: options.slots });
  }

  async run(name: string, input: unknown, { key, deadlineMs, slotsPerKey }: TaskOptions): Promise<unknown> {
    const leave = await this.#enter(key, slotsPerKey);
    try {
      this.#closing.signal.throwIfAborted();
      const settle = Promise.withResolvers<unknown>();
      this.#tasks += 1;
      this.#assign({ id: this.#tasks, name, input, deadlineMs, settle });
      return await settle.promise;
    } finally {
      leave();
    }
  }

  async #enter(key: string, slotsPerKey: number | undefined): Promise<() => void> {
    try {
      return await this.#queue.enter(key, { signal: this.#closing.signal, slotsPerKey });
    } catch (error) {
      throw error instanceof QueueFull ? new TaskStopped('busy', error) : error;
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new TaskStopped('closed'));
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, 'closed')));
  }

  /** The queue admits as many tasks as there are threads, so one is free or can start. */
  #assign(task: Task): void {
    const thread = [...this.#threads].find((candidate) => !candidate.task) ?? this.#start();
    thread.task = task;
    // An idle thread does not keep the process alive. A running task does.
    thread.worker.ref();
    if (thread.isReady) this.#begin(thread);
  }

  #start(): Thread {
    const { url, memoryMb } = this.#options;
    const worker = new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
    worker.unref();
    const thread: Thread = { worker, isReady: false, task: null, timer: null };
    this.#threads.add(thread);
    worker.on('message', (message: TaskResponse) => {
      if ('ready' in message) {
        thread.isReady = true;
        this.#begin(thread);
      } else this.#onResult(thread, message);
    });
    worker.on('error', (error: unknown) => void this.#end(thread, stopReasonOf(error), error));
    worker.on('exit', () => void this.#end(thread, 'crashed'));
    return thread;
  }

  /** Starts the deadline here, because starting a thread takes seconds on a busy host. */
  #begin(thread: Thread): void {
    const { task, worker } = thread;
    if (!task) return;
    const { id, name, input, deadlineMs } = task;
    thread.timer = setTimeout(() => void this.#end(thread, 'deadline'), deadlineMs);
    try {
      worker.postMessage({ id, name, input } satisfies TaskRequest);
    } catch (error) {
      // An input that cannot be copied is not the thread's failure.
      this.#onResult(thread, { id, error });
    }
  }

  #onResult(thread: Thread, message: Exclude<TaskResponse, { ready: true }>): void {
    const { task } = thread;
    if (task?.id !== message.id) return;
    this.#release(thread);
    thread.worker.unref();
    if ('value' in message) task.settle.resolve(message.value);
    else if ('fault' in message) task.settle.reject(new Fault(message.fault.code, message.fault));
    else task.settle.reject(message.error);
  }

  async #end(thread: Thread, reason: StopReason, cause?: unknown): Promise<void> {
    if (!this.#threads.delete(thread)) return;
    const { task } = thread;
    this.#release(thread);
    task?.settle.reject(new TaskStopped(reason, cause));
    await thread.worker.terminate();
  }

  #release(thread: Thread): void {
    if (thread.timer) clearTimeout(thread.timer);
    thread.timer = null;
    thread.task = null;
  }
}

function stopReasonOf(error: unknown): StopReason {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? 'memory'
    : 'crashed';
}

/**
 * The reason why a task has no result.
 *
 * - `deadline`, `memory`, `crashed`: the task exceeded its limits or ended its thread, and would do so again.
 * - `busy`, `closed`: the pool did not run it; a retry may succeed.
 */
type StopReason = 'deadline' | 'memory' | 'crashed' | 'busy' | 'closed';

export class TaskStopped extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason, cause?: unknown) {
    super(`a task in a worker thread was stopped: ${reason}`, { cause });
    this.name = 'TaskStopped';
    this.reason = reason;
  }

  /** Returns whether the same input would be stopped again. */
  get isForGood(): boolean {
    return this.reason !== 'busy' && this.reason !== 'closed';
  }
}
