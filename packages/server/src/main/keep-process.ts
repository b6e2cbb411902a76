import type { Worker } from 'node:cluster';
import { type ProcessMessage, nameOf, type ProcessRef, type SupervisorMessage } from './processes.ts';
import { backoffMs } from '../platform/async/backoff.ts';
import type { Log } from '../platform/log.ts';

export type KeepOptions = {
  fork: (part: ProcessRef) => Worker;
  onMessage: (from: ManagedProcess, message: ProcessMessage) => void;
  /** Called when the process ended unexpectedly, with everything it held in memory. */
  ended: (managed: ManagedProcess) => void;
  log: Log;
};

/** The reported end of a process that never began. */
const NOT_BEGUN = 'no beginning';

const RESTART = { baseMs: 100, maxMs: 5_000 };
/** A process that ran this long did not end because of its start. */
const LIVED_WELL_MS = 30_000;

type Life = {
  worker: Worker;
  begunAt: number;
  lastMessage: string;
  isServing: boolean;
  exited: PromiseWithResolvers<void>;
};

/** A process that is restarted whenever it ends, until it is stopped. */
export class ManagedProcess {
  readonly part: ProcessRef;
  readonly name: string;
  readonly #options: KeepOptions;
  readonly #first = Promise.withResolvers<void>();
  #life: Life | null = null;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #hasServed = false;
  #isStopping = false;

  constructor(part: ProcessRef, options: KeepOptions) {
    this.part = part;
    this.name = nameOf(part);
    this.#options = options;
    // A supervisor of many reads the first one that fails.
    this.#first.promise.catch(() => {});
    this.#start();
  }

  /** Resolves when the process serves for the first time; rejects with its own message if it cannot. */
  get ready(): Promise<void> {
    return this.#first.promise;
  }

  get isServing(): boolean {
    return this.#life?.isServing ?? false;
  }

  /** Returns false if no process is connected. */
  send(message: SupervisorMessage): boolean {
    const worker = this.#life?.worker;
    if (!worker?.isConnected()) return false;
    worker.send(message, () => {});
    return true;
  }

  /** From here on the process is not restarted, however it ends. */
  stopRestarting(): void {
    this.#isStopping = true;
    clearTimeout(this.#timer);
  }

  /** Resolves once the process has ended; it is killed if it does not end within this time. */
  async stop(withinMs: number): Promise<void> {
    this.stopRestarting();
    const life = this.#life;
    if (!life) return;
    this.send({ kind: 'stop' });
    const late = setTimeout(() => {
      this.#options.log.error({ process: this.name }, 'process.killed');
      life.worker.process.kill('SIGKILL');
    }, withinMs);
    await life.exited.promise;
    clearTimeout(late);
  }

  #start(): void {
    const { fork, onMessage, log } = this.#options;
    const begunAt = performance.now();
    const worker = orError(() => fork(this.part));
    if (worker instanceof Error) return this.#again({ lastMessage: worker.message, begunAt }, NOT_BEGUN);
    const life: Life = {
      worker,
      begunAt,
      lastMessage: '',
      isServing: false,
      exited: Promise.withResolvers<void>(),
    };
    this.#life = life;
    const { pid } = worker.process;
    if (pid !== undefined) log.info({ process: this.name, pid }, 'process.started');
    worker.on('message', (message: ProcessMessage) => {
      // A message that arrives after the end belongs to a life whose counts were already added to those of ended processes.
      if (this.#life !== life) return;
      if (message.kind === 'ready') this.#serves(life);
      if (message.kind === 'failed') life.lastMessage = message.message;
      onMessage(this, message);
    });
    // A running process emits this when a message could not be delivered. For a process that the system had no resources for, it is the
    // only event.
    worker.on('error', ({ message }) => {
      if (pid !== undefined) return;
      life.lastMessage = message;
      this.#ends(life, NOT_BEGUN);
    });
    worker.once('exit', (code, signal) => this.#ends(life, signal ?? code));
  }

  #ends(life: Life, exit: string | number): void {
    if (this.#life !== life) return;
    this.#life = null;
    life.exited.resolve();
    if (!this.#isStopping) this.#again(life, exit);
  }

  #serves(life: Life): void {
    this.#hasServed = true;
    life.isServing = true;
    this.#first.resolve();
    this.#options.log.info({ process: this.name }, 'process.ready');
  }

  #again({ lastMessage, begunAt }: Pick<Life, 'lastMessage' | 'begunAt'>, exit: string | number): void {
    const { ended, log } = this.#options;
    if (!this.#hasServed)
      return this.#first.reject(
        new Error(lastMessage || `The process ${this.name} ended with ${exit} at its start`),
      );
    ended(this);
    this.#failures = performance.now() - begunAt >= LIVED_WELL_MS ? 0 : this.#failures + 1;
    const inMs = backoffMs(this.#failures, RESTART);
    log.error(
      { process: this.name, exit: exit, ...(lastMessage && { reason: lastMessage }), retry_in_ms: inMs },
      'process.ended',
    );
    this.#timer = setTimeout(() => this.#start(), inMs);
  }
}

function orError<T>(act: () => T): T | Error {
  try {
    return act();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * The limits within the ten seconds of a stop. An API process cuts off requests after six. A worker waits five for work under way and two
 * more for the relay, then records the outcomes. If it were killed before that, its emails would be `unknown` for good.
 */
const ANSWERED_WITHIN_MS = 7_000;
const DONE_WITHIN_MS = 9_000;

/** All processes stop at the same time: if one kind waited for the other, it would have only the remaining time. */
export async function stopProcesses(processes: readonly ManagedProcess[]): Promise<void> {
  for (const managed of processes) managed.stopRestarting();
  await Promise.all(
    processes.map((managed) => managed.stop(isWorker(managed) ? DONE_WITHIN_MS : ANSWERED_WITHIN_MS)),
  );
}

function isWorker({ part }: ManagedProcess): boolean {
  return part.role === 'worker';
}
