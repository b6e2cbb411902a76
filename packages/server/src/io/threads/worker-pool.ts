import { Worker } from 'node:worker_threads';
import { Fault } from '../../base/fault.ts';
import { createFairQueue } from './fair-queue.ts';
import type { Answer, Asked, Tasks } from './serve-tasks.ts';
import { TaskStopped, type TaskTrouble } from './task-stopped.ts';

export type WorkerPoolOptions = {
  /** The file that calls `serveTasks`. */
  url: URL;
  /** They start when they are first needed, and are used again: loading their code takes longer than most tasks. */
  threadsMax: number;
  /** Of one thread. */
  memoryMb: number;
  /** Tasks that wait, of all keys. */
  waitingMax: number;
};

/** `key`: whose task it is, for the queue (see `fair-queue.ts`). `ofOneMax`: how many may wait with this key. */
export type Running = { key: string; deadlineMs: number; ofOneMax?: number };

/**
 * Threads for work whose cost somebody else decides. Each task has a deadline and a bound of memory. A task beyond them ends
 * with its thread, and the next task gets a new one.
 */
export type WorkerPool<T extends Tasks> = {
  run<N extends keyof T & string>(
    name: N,
    input: Parameters<T[N]>[0],
    running: Running,
  ): Promise<Awaited<ReturnType<T[N]>>>;
  /** Stops what runs and waits. */
  close(): Promise<void>;
};

type Task = Asked & Required<Running> & { settle: PromiseWithResolvers<unknown> };
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
  #tasks = 0;
  #isClosed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#queue = createFairQueue<Task>(options.waitingMax);
  }

  run(name: string, input: unknown, { ofOneMax = Infinity, ...running }: Running): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new TaskStopped('closed'));
    const settle = Promise.withResolvers<unknown>();
    this.#tasks += 1;
    const task: Task = { id: this.#tasks, name, input, ofOneMax, ...running, settle };
    if (!this.#queue.add(task.key, task, ofOneMax)) return Promise.reject(new TaskStopped('busy'));
    this.#pump();
    return settle.promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const task of this.#queue.clear()) task.settle.reject(new TaskStopped('closed'));
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, 'closed')));
  }

  #pump(): void {
    for (let thread = this.#free(); thread; thread = this.#free()) {
      const next = this.#queue.next();
      if (!next) return;
      thread.task = next.task;
      // A thread without a task keeps no process alive; whoever waits for a task does.
      thread.worker.ref();
      if (thread.isReady) this.#begin(thread);
    }
  }

  #free(): Thread | undefined {
    for (const thread of this.#threads) if (!thread.task) return thread;
    return this.#threads.size < this.#options.threadsMax && !this.#isClosed ? this.#start() : undefined;
  }

  #start(): Thread {
    const { url, memoryMb } = this.#options;
    const worker = new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
    worker.unref();
    const thread: Thread = { worker, isReady: false, task: null, timer: null };
    this.#threads.add(thread);
    worker.on('message', (answer: Answer) => {
      if ('ready' in answer) {
        thread.isReady = true;
        this.#begin(thread);
      } else this.#answered(thread, answer);
    });
    worker.on('error', (error: unknown) => void this.#end(thread, troubleOf(error), error));
    worker.on('exit', () => void this.#end(thread, 'crashed'));
    return thread;
  }

  /** The deadline begins here and not while a thread starts, which on a busy machine takes seconds. */
  #begin(thread: Thread): void {
    const { task, worker } = thread;
    if (!task) return;
    const { id, name, input, deadlineMs } = task;
    thread.timer = setTimeout(() => void this.#end(thread, 'deadline'), deadlineMs);
    try {
      worker.postMessage({ id, name, input } satisfies Asked);
    } catch (error) {
      // What cannot be copied is no fault of the thread.
      this.#answered(thread, { id, error });
    }
  }

  #answered(thread: Thread, answer: Exclude<Answer, { ready: true }>): void {
    const { task } = thread;
    if (task?.id !== answer.id) return;
    this.#release(thread);
    thread.worker.unref();
    if ('value' in answer) task.settle.resolve(answer.value);
    else if ('fault' in answer) task.settle.reject(new Fault(answer.fault.code, answer.fault));
    else task.settle.reject(answer.error);
    this.#pump();
  }

  async #end(thread: Thread, trouble: TaskTrouble, cause?: unknown): Promise<void> {
    if (!this.#threads.delete(thread)) return;
    const { task } = thread;
    this.#release(thread);
    task?.settle.reject(new TaskStopped(trouble, cause));
    const ended = thread.worker.terminate();
    this.#pump();
    await ended;
  }

  #release(thread: Thread): void {
    if (thread.timer) clearTimeout(thread.timer);
    if (thread.task) this.#queue.ended(thread.task.key);
    thread.timer = null;
    thread.task = null;
  }
}

function troubleOf(error: unknown): TaskTrouble {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? 'memory'
    : 'crashed';
}
